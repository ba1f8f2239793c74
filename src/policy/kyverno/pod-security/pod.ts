import { type ContextValue, type Fields, isFields, isList, known, valueAt } from '../jmespath/values.ts'

/** What the standards read of a Pod. */
export interface PodParts {
  readonly annotations: Fields
  /** Without its containers. */
  readonly spec: Fields
  readonly containers: readonly PodContainer[]
}

export interface PodContainer {
  readonly kind: 'initContainers' | 'containers' | 'ephemeralContainers'
  readonly index: number
  readonly name: string
  readonly fields: Fields
}

/** A field that a standard forbids, or asks for; `values` are what stands there. */
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

/** The value below the keys; undefined where there is none, or it is null. */
export function partAt(value: ContextValue | undefined, ...keys: readonly string[]): ContextValue | undefined {
  const found = known(valueAt(value, keys))
  return found === null ? undefined : found
}

export const placeOf = ({ kind, index }: PodContainer) => `spec.${kind}[${index}]`
