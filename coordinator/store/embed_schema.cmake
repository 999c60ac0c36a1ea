# cmake -DOUT=schema.cc -P embed_schema.cmake FILES...: the numbered .sql files
# as a table of C++ strings, in order.
set(entries "")
set(expected 1)
math(EXPR last "${CMAKE_ARGC} - 1")
set(files "")
set(seen_script FALSE)
foreach(i RANGE ${last})
  if(seen_script)
    list(APPEND files "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" MATCHES "embed_schema\\.cmake$")
    set(seen_script TRUE)
  endif()
endforeach()
list(SORT files)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+$")
    message(FATAL_ERROR "${file}: schema files are named NNNN_name.sql")
  endif()
  string(REGEX REPLACE "^0+" "" number "${CMAKE_MATCH_1}")
  if(NOT number EQUAL expected)
    message(FATAL_ERROR "${file}: expected number ${expected}")
  endif()
  math(EXPR expected "${expected} + 1")
  file(READ "${file}" sql)
  string(APPEND entries "    {${number}, \"${name}\", R\"sql(${sql})sql\"},\n")
endforeach()
math(EXPR count "${expected} - 1")
file(WRITE "${OUT}" "#include \"coordinator/store/migrate.h\"

namespace benchfleet {
namespace {
constexpr Migration kMigrations[] = {
${entries}};
}  // namespace

absl::Span<const Migration> SchemaMigrations() { return kMigrations; }

}  // namespace benchfleet
")
