# Joins the objects of one instruction set into one object file and makes its shared inline functions
# local to it: cmake -DOBJECTS=a.o;b.o -DOUTPUT=x.o -DLEVEL=avx2 -DLD=.. -DREADELF=.. -DOBJCOPY=.. -P
#
# Note [One definition, several instruction sets]
# An inline function or template of a shared header (std::vector::push_back, say) is compiled into
# every object that uses it, and the linker keeps one copy for all callers. If it kept the copy from
# an AVX-512 object, ordinary code would run AVX-512 instructions on a machine without them. Putting
# our own helpers into the level's namespace does not help against the standard library's. So the
# objects of a level are joined with their groups dissolved, and every weak function and virtual table
# that is not named after the level becomes local: each level keeps its own copies, and nobody else
# can reach them. Data (static locals, inline variables) stays shared, as the language promises.
# tests/structure/check_isa.py verifies the result.

set(joined ${OUTPUT}.joined)
execute_process(COMMAND ${LD} -r --force-group-allocation -o ${joined} ${OBJECTS}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${READELF} --symbols --wide ${joined} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)

# A line reads "12: 0000000000000000  71 FUNC  WEAK  DEFAULT  45 _ZNSt6vector..."; an undefined symbol
# has UND instead of the section's number.
string(REGEX MATCHALL "(FUNC +WEAK +[A-Z]+ +[0-9]+ +|OBJECT +WEAK +[A-Z]+ +[0-9]+ +_ZT[VTC])[^ \n]+"
       weak "${symbols}")
string(LENGTH ${LEVEL} length)
list(FILTER weak EXCLUDE REGEX "5taeda4v[0-9]_[0-9]3cpu${length}${LEVEL}")
list(TRANSFORM weak REPLACE "^.* " "")
list(JOIN weak "\n" lines)
file(WRITE ${OUTPUT}.local "${lines}\n")
execute_process(COMMAND ${OBJCOPY} --localize-symbols=${OUTPUT}.local ${joined} ${OUTPUT}
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${joined})
