"""Tests, intervals and corrections as functions of numbers and arrays, in log space. Nothing here knows a group."""
