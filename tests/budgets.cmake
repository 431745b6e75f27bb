# How many cases each test program may make at the usual scale (tests/support/main.cpp).
