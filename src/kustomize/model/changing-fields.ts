import type { Kustomization } from './kustomization.ts'

/**
 * What each field does: `brings` adds objects, `changes` makes others of what the other fields bring, `reads` changes by
 * values that it takes from other objects. A field of which nothing is said here does not compile.
 */
const EFFECTS = {
  resources: 'brings',
  components: 'brings',
  configMapGenerator: 'brings',
  secretGenerator: 'brings',
  generators: 'brings',
  configurations: 'changes',
  namespace: 'changes',
  namePrefix: 'changes',
  nameSuffix: 'changes',
  patches: 'changes',
  patchesJson6902: 'changes',
  patchesStrategicMerge: 'changes',
  labels: 'changes',
  commonLabels: 'changes',
  commonAnnotations: 'changes',
  replicas: 'changes',
  images: 'changes',
  replacements: 'reads',
  transformers: 'reads',
  buildMetadata: 'changes',
  sortOptions: 'itself',
  file: 'itself',
  directory: 'itself',
  unseen: 'itself',
  kind: 'itself',
  generated: 'itself',
} as const satisfies Readonly<Record<keyof Kustomization, 'brings' | 'changes' | 'reads' | 'itself'>>

const FIELDS = Object.entries(EFFECTS) as readonly [keyof Kustomization, (typeof EFFECTS)[keyof Kustomization]][]
const fieldsThat = (...effects: readonly string[]) => FIELDS.filter(([, effect]) => effects.includes(effect))

const CHANGING = fieldsThat('changes', 'reads').map(([name]) => name)
const READING = fieldsThat('reads').map(([name]) => name)

/** The fields that are set by which a kustomization changes what comes from below it, by name. */
export function changingFields(kustomization: Kustomization): readonly (readonly [string, unknown])[] {
  return CHANGING.filter(name => isSet(kustomization[name])).map(name => [name, kustomization[name]])
}

/** Whether a kustomization writes values of some objects into others. */
export const readsOthers = (kustomization: Kustomization): boolean => READING.some(name => isSet(kustomization[name]))

const isSet = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)
