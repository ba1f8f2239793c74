import { emitScalar } from '../../flux/substitute/emit-scalar.ts'

/** A value of a manifest; absent fields are left out. */
type ManifestValue = string | boolean | ManifestMap | readonly ManifestValue[]
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
      if (typeof value === 'string' || typeof value === 'boolean') {
        return [`${indent}${key}: ${scalar(value, indent.length + key.length + 1, indent.length + 2)}`]
      }
      const lines = Array.isArray(value) ? items(value, indent) : fields(value as ManifestMap, `${indent}  `)
      return [`${indent}${key}:`, ...lines]
    })
}

function items(list: readonly ManifestValue[], indent: string): string[] {
  return list.flatMap(item => {
    if (typeof item === 'string' || typeof item === 'boolean') {
      return [`${indent}- ${scalar(item, indent.length + 1, indent.length + 2)}`]
    }
    const [first = '', ...rest] = fields(item as ManifestMap, `${indent}  `)
    return [`${indent}- ${first.trimStart()}`, ...rest]
  })
}

const scalar = (value: string | boolean, column: number, indent: number) =>
  typeof value === 'boolean' ? String(value) : emitScalar(value, { column, indent, key: false }).text
