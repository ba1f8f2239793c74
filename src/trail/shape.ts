/** How a value of a line must look: the value with its fields in order, or undefined where it is another. */
type LineShape<T> = (value: unknown) => T | undefined

/** A value for which a test holds. */
export const where =
  <T>(test: (value: unknown) => boolean): LineShape<T> =>
  value =>
    test(value) ? (value as T) : undefined

/** Each item of a list. */
export const listOf =
  <T>(item: LineShape<T>): LineShape<readonly T[]> =>
  value => {
    if (!Array.isArray(value)) return undefined
    const items = value.map(item)
    return items.includes(undefined) ? undefined : (items as T[])
  }

/** An object with exactly these fields, in this order; those of `maybe` may be absent. */
export const fieldsOf =
  <T extends object>(
    fields: { readonly [K in keyof T]-?: LineShape<Exclude<T[K], undefined>> },
    maybe: readonly (keyof T)[] = [],
  ): LineShape<T> =>
  value => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const given = value as Record<string, unknown>
    const known: Record<string, unknown> = {}
    for (const [name, shape] of Object.entries<LineShape<unknown>>(fields)) {
      const present = Object.hasOwn(given, name) ? given[name] : undefined
      if (present === undefined && maybe.includes(name as keyof T)) continue
      const shaped = shape(present)
      if (shaped === undefined) return undefined
      known[name] = shaped
    }
    return known as T
  }
