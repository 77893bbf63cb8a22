"""What of libtorch Taeda leaves out on purpose: the first rule that fits an entry that does not compile."""

import re

# (title, what it is matched with, pattern, reason). An entry reads "space::name(type; type)".
RULES = [
    ("symbolic sizes", r"Sym(Int|Float)|_symint|::sym_|[sS]ymbolic",
     "sizes that a tracer of graphs fills in; every such function is there with plain sizes"),
    ("named dimensions", r"Dimname|\bnames\(|has_names|\brename|refine_names|align_(to|as|tensors)|opt_names|dimname|namedshape|Unflatten.*std::pair<",
     "PyTorch's prototype of named tensors was never finished"),
    ("sparse layouts other than COO", r"[Ss]parse_?(csr|csc|bsr|bsc)|Sparse(Csr|Csc|Bsr|Bsc)|_?c?c(ol|row)_indices|"
     r"\b(row|col)_indices|_compressed_tensor|validate_sparse|sampled_addmm",
     "of compressed layouts Taeda has matrices in rows (CSR), which this list does not tell apart"),
    ("quantized tensors", r"quantiz|Quantiz|fake_quant|fbgemm|\bq_(scale|zero|per)|int_repr|qscheme|QScheme|"
     r"kQ(Int|UInt)|[qQ]Engine|kPer(Channel|Tensor)|QInt|choose_qparams|fused_moving|QNNPACK|kFBGEMM|"
     r"::kX86|kONEDNN|isQInt|\bqint|quint",
     "no kernel computes with quantized integers"),
    ("TorchScript", r"Schema|IMethod|TypePtr|ivalue|c10::Dict|c10::List|c10::Stack|IValue.*(Module|Object|Future|"
     r"Await|RRef|PyObject|Capsule|Enum|Blob|Quantizer|SymNode|Type)|torch::jit|torchbind|AliasAnalysis|"
     r"::IValue::(is|to)?(Custom|Sym|List|GenericDict|Tuple|identity|unsafe|hash|visit|overlap|dump|subvalue|"
     r"internal|getSub|insert|equals|ptrEq|repr|annotate|is(Ptr|Alias)|type\()|deepcopy\(.*HashAliased|Library::class_|"
     r"handleDimInMultiDim",
     "there is no interpreter: a program's types are C++'s"),
    ("other makers' libraries", r"cudnn|miopen|mkldnn|Mkldnn|MKLDNN|mkl|MKL|xnnpack|nnpack|MIOpen|Lapack|LAPACK|"
     r"[Mm]agma|MAGMA|cuBLAS|CuBLAS|CuDNN|CUSOLVER|Cusolver|vulkan|Vulkan|[Mm]etal|is_xla|ipu|Ipu|IPU|is_ort|is_xpu|"
     r"is_hpu|is_mps|is_ve|\bve\(|ORT|FPGA|kH[IP][PU]|kXLA|kXPU|kMPS|kLazy|kVE|kHIP|hip\(|XPU|HPU|MPS|XLA|Vmap|"
     r"is_lazy|hasLazy|getNVRTC|versionCUDART|XNNPACK|hasOpenMP|hasCUDART|hasCuSOLVER|kIPU|kPrivateUse1|lazyInit|HIP|ROCM",
     "a device's kernels choose their libraries themselves; such devices come as plug-ins"),
    ("generated code's second form", r"_outf\(",
     "`name_out(out, ...)` is the form that programs call"),
    ("copies of views", r"_copy(_out)?\(|_scatter_out|\balias\(|lift(_fresh)?\(|lift_out",
     "functions that compilers of graphs put in the place of views"),
    ("derivatives", r"_backward\w*\(|_backward$|_jvp|_double_backward|backward_(reduce|elemt|input|weight|data)",
     "what autograd computes; not called by programs"),
    ("kernels behind operations", r"slow_conv|conv_depthwise3d|thnn_|native_(batch|group|layer)_norm|"
     r"native_(norm|dropout|channel)|batch_norm_(gather|stats|elemt|update|reduce|backward)|convolution_over|"
     r"_with_counts|_forward(_out)?\(|_for_backward|\b_\w+\(|thnn|segment_reduce|unsafe_(split|chunk)|ccol|rnn_.*cell|"
     r"embedding_renorm|record_stream|set_data|fake_|conv_tbc|_nd_forward|multilabel_margin_loss_forward",
     "parts of operations, called by libtorch's own sources"),
    ("fallbacks of a dispatcher", r"Library::fallback",
     "an implementation for all operations at once needs a dispatcher between every call and its kernel"),
    ("nested tensors", r"to_padded_tensor",
     "lists of tensors and masks stand for sequences of different lengths"),
    ("complex numbers of 16 bits", r"::chalf\(|ComplexHalf|complex<c10::Half>", "no kernel computes with them"),
    ("operations with an out form that draws or views", r"::(empty|rand|randn|randint|randperm|zeros|ones|full|eye|arange|"
     r"linspace|logspace|bartlett_window|blackman_window|hann_window|hamming_window|kaiser_window|"
     r"(empty|rand|randn|randint|zeros|ones|full)_like|new_\w+|from_file|normal|fft_r?fftfreq|Tensor::to|tril_indices|triu_indices|range|"
     r"scalar_tensor|empty_strided|empty_permuted|sparse_coo_tensor)\w*\(.*std::optional<c10::Layout>",
     "the unpacked form of TensorOptions, which `TensorOptions` replaces in programs"),
    ("old type objects", r"DeprecatedType|TypeProperties|Backend|DispatchKey|typeMeta|TypeMeta|caffe2|AutogradMeta|"
     r"VariableVersion|UndefinedTensor|unsafe\w+Impl|intrusive|TensorImpl|StorageImpl|key_set|is_meta_alloc|"
     r"GeneratorImpl|NamedTensor|OptionalTensorRef|ExclusivelyOwned|MaybeOwned|Backtrace|Caffe|LogAPI|"
     r"SourceLocation|set_backtrace|DebugInfo|unsafe|StorageExtra|getHook|getAccelerator|c10::detail|backtrace|"
     r"kDynamic|Underlying|ThrowEnforce|Logg(ing|er)|ReplaceAll|StackTraceFetcher|ShowLogInfo|kDimVector|isPrint|"
     r"printQuoted|LogPyTorch|GetExceptionString|_strides_[23]d|::(pack|unpack|create_legacy|reset_legacy)\(|"
     r"Allocator|DataPtr|::allocator\(|ShareExternalPointer|set_nbytes|pyobj|Generator::get\(|::backend\(|"
     r"Scalar::(data_ptr|destroy)|::caller\(|::Error\(.*const void|kSoftLimit|kAutograd|list_unwrap|legacy_cat|impl::|type_equal|merge_in|compilation_unit|getIntrusivePtr|get_named_tensor_meta|"
     r"generic_packed|SelectiveStr|UNBOXED|CppFunction|expect_contiguous|weak_use_count",
     "the representation behind libtorch's handles"),
    ("inner parts of autograd", r"torch::autograd::(AnomalyMetadata|AutogradMeta|DifferentiableView|Edge|Extract|"
     r"Forward|GraphTask|InputBuffer|InputMetadata|NodeGuard|NodeTask|ReadyQueue|SavedVariable|TraceableFunction|"
     r"VariableInfo|ViewInfo|Node|Engine|collect|add_input|any_|as_variable|as_view|create|check|compute|deleteNode|"
     r"extract|gather|get_|CppNode|IndexRange|MetadataShape|forward_t|optional_variable_list|CPU_DEVICE|NO_DEVICE|ERR_|"
     r"propagate|apply|autogradNotImplemented|AutogradContext::get_(and|non)|handle|impl|increment|is(Fwd|_)|make_|rebase|reset|set_|to_|update|validate|wrap|"
     r"DelayedError|Error|Undefined|Not|Identity|Accumulate|CppFunction|FunctionPre|FunctionPost|FunctionTensor|"
     r"PyFunction|SavedTensor|ReturnT|hooks|Default|edge_list|tensor_list|saved_|hash_|function_|Scatter|Gather|"
     r"CopySlices|CopyBackwards|Graph|tangents|unpack|_|cpp|worker|per|python)",
     "how libtorch's engine is built; Taeda's is another"),
    ("inner parts of nn", r"torch::nn::(AnyModulePlaceholder|AnyModuleHolder|AnyValue::|MultiheadAttentionForward|"
     r"functions::|.*(_Impl|Base|Placeholder)(::|$))|multi_head_attention_forward|MultiheadAttentionForwardFunc|"
     r"NormImplBase|ConvNdImpl",
     "base classes and helpers that programs do not name"),
]
COMPILED = [(title, re.compile(pattern), reason) for title, pattern, reason in RULES]


def purpose(text):
    """The title of the rule by which an entry is left out, or None."""
    for title, pattern, _ in COMPILED:
        if pattern.search(text):
            return title
    return None
