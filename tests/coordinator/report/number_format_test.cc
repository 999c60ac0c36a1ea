#include "coordinator/report/number_format.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <limits>
#include <string>

#include "coordinator/report/json_writer.h"

namespace benchfleet {
namespace {

struct Row {
  double value;
  const char* text;
};
constexpr Row kRows[] = {{17, "17.0"},
                         {1e-7, "1e-07"},
                         {1e15, "1000000000000000.0"},
                         {1e16, "1e+16"},
                         {1.2345678901234568e17, "1.2345678901234568e+17"},
                         {0.1, "0.1"},
                         {2.0 / 3, "0.6666666666666666"},
                         {5e-324, "5e-324"},
                         {-0.0, "-0.0"},
                         {0, "0.0"},
                         {1e-4, "0.0001"},
                         {1.5e-5, "1.5e-05"},
                         {123456.789, "123456.789"},
                         {9999999999999998, "9999999999999998.0"},
                         {-12.5, "-12.5"},
                         {1e100, "1e+100"},
                         {1.7976931348623157e308, "1.7976931348623157e+308"}};

TEST(NumberFormatTest, FloatsAreAsPythonPrintsThem) {
  for (const Row& row : kRows) EXPECT_EQ(PythonFloat(row.value), row.text);
}

TEST(NumberFormatTest, EveryTextReadsBackAsTheSameNumber) {
  double value = 1e-310;
  for (int i = 0; i < 2000; ++i, value *= 1.9876543) {
    if (value > 1e300) break;
    EXPECT_EQ(std::strtod(PythonFloat(value).c_str(), nullptr), value);
  }
}

TEST(NumberFormatTest, LocaleDoesNotShow) {
  const char* locale = setlocale(LC_ALL, "de_DE.UTF-8");
  for (const Row& row : kRows) EXPECT_EQ(PythonFloat(row.value), row.text);
  EXPECT_EQ(ShortNumber(1.5), "1.500");
  setlocale(LC_ALL, "C");
  if (locale == nullptr) GTEST_SKIP() << "de_DE.UTF-8 is not installed";
}

TEST(NumberFormatTest, ShortNumbersHaveAboutFourDigits) {
  const Row rows[] = {
      {0.012345, "0.0123"}, {0.99999, "1.000"}, {6.8256, "6.826"},
      {9.9996, "10.00"},    {17.868, "17.87"},  {114.617, "114.6"},
      {999.97, "1000"},     {12345.6, "12346"}, {0, "0.0"}};
  for (const Row& row : rows) EXPECT_EQ(ShortNumber(row.value), row.text);
}

TEST(JsonWriterTest, LayoutIsPythons) {
  JsonWriter json;
  json.BeginObject();
  json.IntField("count", 9007199254740993);
  json.UintField("seed", UINT64_MAX);
  json.StringField("text", "q\" b\\ \n \x01 \x7f caf\xc3\xa9 \xff");
  json.DoubleField("absent", std::nullopt);
  json.DoubleField("nan", std::numeric_limits<double>::quiet_NaN());
  json.Key("empty");
  json.BeginArray();
  json.EndArray();
  json.Key("list");
  json.BeginArray();
  json.Double(1);
  json.BeginObject();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  EXPECT_EQ(json.Take(),
            "{\n"
            "  \"count\": 9007199254740993,\n"
            "  \"seed\": 18446744073709551615,\n"
            "  \"text\": \"q\\\" b\\\\ \\n \\u0001 \x7f caf\xc3\xa9 "
            "\xef\xbf\xbd\",\n"
            "  \"absent\": null,\n"
            "  \"nan\": null,\n"
            "  \"empty\": [],\n"
            "  \"list\": [\n"
            "    1.0,\n"
            "    {}\n"
            "  ]\n"
            "}");
}

}  // namespace
}  // namespace benchfleet
