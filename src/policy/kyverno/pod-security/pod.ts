import { type ContextValue, type Fields, isFields, isList, known, valueAt } from '../jmespath/values.ts'

/** The parts of a Pod that the standards check. */
export interface PodParts {
  readonly annotations: Fields
  /** The Pod's spec without its containers. */
  readonly spec: Fields
  readonly containers: readonly PodContainer[]
}

export interface PodContainer {
  readonly kind: 'initContainers' | 'containers' | 'ephemeralContainers'
  readonly index: number
  readonly name: string
  readonly fields: Fields
}

/** A field that violates a standard; `values` are its present values. */
export interface Fault {
  readonly field: string
  readonly values: readonly string[]
}

const KINDS = ['initContainers', 'containers', 'ephemeralContainers'] as const
const EMPTY: Fields = new Map()

export function podOf(metadata: ContextValue | undefined, spec: ContextValue | undefined): PodParts {
  const fields = fieldsIn(spec)
  const containers = KINDS.flatMap(kind =>
    itemsIn(fields.get(kind)).map((item, index) => {
      const own = fieldsIn(item)
      return { kind, index, name: textIn(own.get('name')), fields: own }
    }),
  )
  return { annotations: fieldsIn(valueAt(metadata, ['annotations'])), spec: fields, containers }
}

export function fieldsIn(value: ContextValue | undefined): Fields {
  const plain = known(value)
  return isFields(plain) ? plain : EMPTY
}

export function itemsIn(value: ContextValue | undefined): readonly ContextValue[] {
  const plain = known(value)
  return isList(plain) ? plain : []
}

export function textIn(value: ContextValue | undefined): string {
  const plain = known(value)
  return typeof plain === 'string' ? plain : ''
}

/** The value at a path of keys; undefined if it is absent or null. */
export function partAt(value: ContextValue | undefined, ...keys: readonly string[]): ContextValue | undefined {
  const found = known(valueAt(value, keys))
  return found === null ? undefined : found
}

export const placeOf = ({ kind, index }: PodContainer) => `spec.${kind}[${index}]`
