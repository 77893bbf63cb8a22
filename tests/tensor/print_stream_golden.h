// Made by tests/golden/print_stream.cpp with libtorch 1.13.
#pragma once

constexpr const char* kPrintStreamGolden[] = {
    R"(1.5
[ CPUFloatType{} ])",
    R"( 1
 2
 3
[ CPUFloatType{3} ])",
    R"(  1
 -2
 30
[ CPULongType{3} ])",
    R"( 0  1  2
 3  4  5
[ CPUFloatType{2,3} ])",
    R"( 1.5000
-2.2500
[ CPUFloatType{2} ])",
    R"( 1.0000e-05
 1.0000e+00
[ CPUFloatType{2} ])",
    R"(1e+05 *
 1.2346
 0.0100
[ CPUFloatType{2} ])",
    R"(0.001 *
 1.0000
 2.0000
[ CPUFloatType{2} ])",
    R"((1,.,.) = 
  0  1
  2  3

(2,.,.) = 
  4  5
  6  7
[ CPULongType{2,2,2} ])",
    R"(Columns 1 to 10      0   10000   20000   30000   40000   50000   60000   70000   80000   90000
 200000  210000  220000  230000  240000  250000  260000  270000  280000  290000

Columns 11 to 20 100000  110000  120000  130000  140000  150000  160000  170000  180000  190000
 300000  310000  320000  330000  340000  350000  360000  370000  380000  390000
[ CPULongType{2,20} ])",
    R"([ CPUFloatType{0} ])",
    R"([ CPUFloatType{2,0} ])",
    R"(1e+05 *
 1.2346  2.0000
[ CPUFloatType{1,2} ])",
    R"((1,1,.,.) = 
  0  1
  2  3

(2,1,.,.) = 
   8   9
  10  11

(1,2,.,.) = 
  4  5
  6  7

(2,2,.,.) = 
  12  13
  14  15
[ CPULongType{2,2,2,2} ])",
    R"( 0.5000
 0.2500
[ CPUFloatType{2,1} ])",
    R"(7
[ CPULongType{} ])",
    R"( 1
 0
[ CPUBoolType{2} ])",
    R"( 1.0000e+12
 1.0000e+00
[ CPUFloatType{2} ])",
};
