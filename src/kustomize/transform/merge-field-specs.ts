import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../kube/origin.ts'
import { type FieldSpec, specMatches } from './field-spec.ts'

/**
 * `specs` and those of `more` that are not covered by them. A spec without a kind counts as covered by one of the same
 * path for any kind, as in kustomize (api/types/fieldspec.go). Throws `kustomize-invalid` where the two disagree on
 * whether the field is to be created.
 */
export function mergeFieldSpecs(
  specs: readonly FieldSpec[],
  more: readonly FieldSpec[],
  origin: Origin,
): readonly FieldSpec[] {
  const byPath = Map.groupBy(specs, spec => spec.path)
  const result = [...specs]
  for (const spec of more) {
    const samePath = byPath.get(spec.path) ?? []
    const known = samePath.find(other => specMatches(spec, idOf(other)))
    if (!known) {
      byPath.set(spec.path, [...samePath, spec])
      result.push(spec)
    } else if ((known.create ?? false) !== (spec.create ?? false)) {
      const message = `two field specs of ${spec.path} disagree on create`
      throw new BailiwickError('kustomize-invalid', message, { origin })
    }
  }
  return result
}

function idOf({ group = '', version = '', kind = '' }: FieldSpec): { group: string; version: string; kind: string } {
  return { group, version, kind }
}
