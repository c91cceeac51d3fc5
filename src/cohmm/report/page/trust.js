// How sure the numbers are: intervals as text, and the diagnosis as a table.

const certain = data.transitions_low.length > 0;
const LEVEL = Number((100 * data.level).toPrecision(3)) + " %";
const between = (low, high) => digits(low, 2) + "–" + digits(high, 2);
const stepBetween = (i, j) => certain ? between(data.transitions_low[i][j], data.transitions_high[i][j]) : "";
const stepSaid = (i, j) => certain ? ` (${LEVEL}: ${stepBetween(i, j)})` : "";

table("diagnosis", () => ({ columns: ["about", "text"],
  rows: [...data.trust.lines.map((line) => [line.name, line.value]), ...data.trust.advice.map((text, i) => ["Next, " + (i + 1), text])] }));
