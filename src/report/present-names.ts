/**
 * Plain data with each text that is exactly an earlier address of a repository in its present one: a fleet names what it
 * reads as its manifests do, everybody else by where it is now.
 */
export function withPresentNames<T>(data: T, names: ReadonlyMap<string, string>): T {
  return names.size === 0 ? data : (renamed(data, names) as T)
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return names.get(value) ?? value
  if (Array.isArray(value)) return value.map(item => renamed(item, names))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, names)]))
}
