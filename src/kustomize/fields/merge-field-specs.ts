import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import type { FieldSpec } from '../model/field-spec.ts'

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
  const known = new Map<string, FieldSpec>()
  const result: FieldSpec[] = []
  const add = (spec: FieldSpec): void => {
    result.push(spec)
    for (const key of coveredKeys(spec)) if (!known.has(key)) known.set(key, spec)
  }
  specs.forEach(add)
  for (const spec of more) {
    const other = known.get(keyOf(spec.path, spec.group, spec.version, spec.kind))
    if (!other) add(spec)
    else if ((other.create ?? false) !== (spec.create ?? false)) {
      const message = `${spec.path}: two field specs set create differently`
      throw new BailiwickError('kustomize-invalid', message, { origin })
    }
  }
  return result
}

/** The specs that this one covers, itself first: those of the same path that say the same or less of the kind. */
function coveredKeys({ path, group, version, kind }: FieldSpec): readonly string[] {
  const keys = new Set<string>()
  for (const g of [group, undefined]) {
    for (const v of [version, undefined]) for (const k of [kind, undefined]) keys.add(keyOf(path, g, v, k))
  }
  return [...keys]
}

const keyOf = (path: string, group = '', version = '', kind = ''): string => `${path}\0${group}\0${version}\0${kind}`
