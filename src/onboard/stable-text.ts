/** Text of plain data in which the order of keys does not show: equal text means equal data. */
export function stableText(data: unknown): string {
  return JSON.stringify(data, (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? { map: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : value,
  )
}
