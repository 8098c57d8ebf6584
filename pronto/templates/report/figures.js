// Figures

const digits = (x, m) => (m.percent ? (100 * x).toFixed(1) : x.toFixed(2))
const figure = (x, m = metric) => (x == null ? '–' : digits(x, m).replace('-', '−'))
const signed = (x, m = metric) => (x == null ? '–' : (x < 0 ? '−' : '+') + digits(Math.abs(x), m))
const pValue = p => (p == null ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3))
const size = n => (n < 1e9 ? `${n < 1e8 ? +(n / 1e6).toPrecision(2) : Math.round(n / 1e6)} M` : `${(n / 1e9).toFixed(1)} B`)
const get = (r, k, columns = S) => (columns[k][r.i] == null ? null : columns[k][r.i] / 1e6)
const zero = () => metric.zero ?? 'the majority label' // Above which a score says something
const score = r => get(r, 'score'),
  gain = r => get(r, 'gain')
const over = r => (get(r, 'majority') == null ? null : (metric.less ? -1 : 1) * (score(r) - get(r, 'majority')))
const onCommonRows = (r, k) => get(r, S[`common_${k}`]?.[r.i] == null ? k : `common_${k}`) // Where a translation has other rows, too
const above = r => S.above[r.i]
const testSet = r => `${r.bible.code}\n${r.task.name}` // Of the results that are shown together
function holm(ps) {
  // Corrected for their number
  const order = ps
      .map((_, i) => i)
      .filter(i => ps[i] != null)
      .sort((a, b) => ps[a] - ps[b]),
    found = ps.map(() => null)
  let largest = 0
  order.forEach((i, k) => {
    found[i] = largest = Math.max(largest, Math.min(1, ps[i] * (order.length - k)))
  })
  return found
}
