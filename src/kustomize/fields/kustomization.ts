import type { Unseen } from '../../kube/object.ts'
import type { KustomizationField } from './field.ts'
import { FIELDS, type FieldValues } from './registry.ts'

/** A kustomization.yaml with everything in it that we support; what we do not was refused when it was read. */
export interface Kustomization extends FieldValues {
  /** Path of the file; for one that Flux generates, the directory with `kustomization.yaml`. */
  readonly file: string
  readonly directory: string
  /** Characters of the file that people do not see, where it was read elsewhere. */
  readonly unseen?: readonly Unseen[]
  /** Nobody wrote it: Flux generates one for a directory that has none. Its entries leave no trail. */
  readonly generated?: true
}

const named = Object.entries<KustomizationField<unknown>>(FIELDS) as [keyof FieldValues, KustomizationField<unknown>][]
const fieldsThat = (...effects: readonly string[]) =>
  named.filter(([, { effect }]) => effects.includes(effect)).map(([name]) => name)

const CHANGING = fieldsThat('changes', 'reads')
const READING = fieldsThat('reads')

/** The fields that are set by which a kustomization changes what comes from below it, by name. */
export function changingFields(kustomization: Kustomization): readonly (readonly [string, unknown])[] {
  return CHANGING.filter(name => isSet(kustomization[name])).map(name => [name, kustomization[name]])
}

/** Whether a kustomization writes values of some objects into others. */
export const readsOthers = (kustomization: Kustomization): boolean => READING.some(name => isSet(kustomization[name]))

/** Whether the value of a field says something. */
export const isSet = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)
