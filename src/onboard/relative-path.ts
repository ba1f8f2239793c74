/** `target` as seen from directory `from`: `../base/x`. Both relative to the root, without dots. */
export function relativePath(from: string, target: string): string {
  const a = from === '' ? [] : from.split('/')
  const b = target.split('/')
  let common = 0
  while (common < a.length && common < b.length && a[common] === b[common]) common++
  return [...a.slice(common).map(() => '..'), ...b.slice(common)].join('/')
}
