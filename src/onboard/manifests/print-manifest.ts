import { emitScalar } from '../../flux/substitute/emit-scalar.ts'

/** A value of a manifest; absent fields are left out. */
export type ManifestValue = string | boolean | number | ManifestMap | readonly ManifestValue[]
export interface ManifestMap {
  readonly [name: string]: ManifestValue | undefined
}

/** Objects as `flux create ... --export` prints them (sigs.k8s.io/yaml: sorted names, lists as far left as their name). */
export const printManifests = (objects: readonly ManifestMap[]): string =>
  objects.map(object => `---\n${fields(object, '').join('\n')}\n`).join('')

function fields(map: ManifestMap, indent: string): string[] {
  const present = Object.entries(map).filter((entry): entry is [string, ManifestValue] => entry[1] !== undefined)
  return present
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => {
      const key = emitScalar(name, { column: indent.length - 1, indent: indent.length, key: true }).text
      const text = inline(value, indent.length + key.length + 1, indent.length + 2)
      if (text !== undefined) return [`${indent}${key}: ${text}`]
      const lines = Array.isArray(value) ? items(value, indent) : fields(value as ManifestMap, `${indent}  `)
      return [`${indent}${key}:`, ...lines]
    })
}

function items(list: readonly ManifestValue[], indent: string): string[] {
  return list.flatMap(item => {
    const text = inline(item, indent.length + 1, indent.length + 2)
    if (text !== undefined) return [`${indent}- ${text}`]
    if (Array.isArray(item)) throw new TypeError('a list in a list is not printed')
    const [first = '', ...rest] = fields(item as ManifestMap, `${indent}  `)
    return [`${indent}- ${first.trimStart()}`, ...rest]
  })
}

/** A value on the same line as its name or dash; undefined if it needs several lines. */
function inline(value: ManifestValue, column: number, indent: number): string | undefined {
  if (typeof value === 'string') return emitScalar(value, { column, indent, key: false }).text
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : undefined
  return Object.values(value).every(one => one === undefined) ? '{}' : undefined
}
