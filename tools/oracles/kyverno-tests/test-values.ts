import type { AdmissionOperation } from '../../../src/admission/admission/admission-request.ts'
import { at, type Json, type Node, stringAt, toJson } from '../../../src/kube/node.ts'
import { textMapOf } from '../../../src/kube/read-fields.ts'

type Values = ReadonlyMap<string, Json>

/** Values that a test gives in place of a cluster (ValuesSpec of Kyverno's command line). */
export interface TestValues {
  /** Namespaces by name: those that the values contain, and some of labels only. */
  readonly namespaces: ReadonlyMap<string, Json>
  /** Values of names for every policy. */
  readonly globals: Values
  readonly policies: readonly PolicyValues[]
  readonly subresources: readonly Subresource[]
}

/** Values of names for one policy: by object, and by rule. */
interface PolicyValues {
  readonly policy: string
  readonly resources: readonly (readonly [name: string, values: Values])[]
  readonly rules: readonly (readonly [name: string, values: Values])[]
}

/** A kind that is a subresource of another kind. */
interface Subresource {
  readonly apiVersion: string
  readonly kind: string
  /** `<resource>/<subresource>`. */
  readonly name: string
  readonly parent: { readonly apiVersion: string; readonly kind: string }
}

export const NO_VALUES: TestValues = { namespaces: new Map(), globals: new Map(), policies: [], subresources: [] }

/** Reads the values of a test, or of its values file. */
export function readValues(spec: Node | undefined): TestValues {
  const selectors = itemsOf(spec, 'namespaceSelector').map(one => {
    const name = stringAt(one, ['name']) ?? ''
    const metadata = { name, labels: Object.fromEntries(textMapOf(at(one, ['labels'])) ?? []) }
    return [name, { apiVersion: 'v1', kind: 'Namespace', metadata }] as const
  })
  const namespaces = itemsOf(spec, 'namespaces').flatMap(one => {
    const written = toJson(one)
    const isMap = typeof written === 'object' && written !== null && !Array.isArray(written)
    const name = stringAt(one, ['metadata', 'name']) ?? ''
    return isMap ? [[name, { ...written, apiVersion: 'v1', kind: 'Namespace' }] as const] : []
  })
  return {
    namespaces: new Map([...selectors, ...namespaces]),
    globals: valuesAt(spec, 'globalValues'),
    policies: itemsOf(spec, 'policies').map(one => ({
      policy: stringAt(one, ['name']) ?? '',
      resources: itemsOf(one, 'resources').map(named),
      rules: itemsOf(one, 'rules').map(named),
    })),
    subresources: itemsOf(spec, 'subresources').map(readSubresource),
  }
}

/** The operation that the values of a policy name for an object. */
export function operationIn(values: ReadonlyMap<string, Json>): AdmissionOperation | undefined {
  const text = values.get('request.operation')
  return (['CREATE', 'UPDATE', 'DELETE'] as const).find(one => one === text)
}

const itemsOf = (node: Node | undefined, key: string): readonly Node[] => {
  const list = at(node, [key])
  return list?.type === 'list' ? list.items : []
}

function valuesAt(node: Node | undefined, key: string): Map<string, Json> {
  const found = at(node, [key])
  if (found?.type !== 'map') return new Map()
  return new Map([...found.fields].map(([name, { value }]) => [name, toJson(value)]))
}

/** Of the values for the items of a loop, Kyverno's command line takes the first. */
function named(item: Node): readonly [string, Values] {
  const loops = [...valuesAt(item, 'foreachValues')].map(
    ([name, list]) => [name, (Array.isArray(list) ? list[0] : null) ?? null] as const,
  )
  return [stringAt(item, ['name']) ?? '', new Map([...valuesAt(item, 'values'), ...loops])]
}

function readSubresource(node: Node): Subresource {
  const kindAt = (key: string) => {
    const of = (field: string) => stringAt(node, [key, field]) ?? ''
    const group = of('group')
    return { apiVersion: `${group === '' ? '' : `${group}/`}${of('version')}`, kind: of('kind') }
  }
  return {
    ...kindAt('subresource'),
    name: stringAt(node, ['subresource', 'name']) ?? '',
    parent: kindAt('parentResource'),
  }
}
