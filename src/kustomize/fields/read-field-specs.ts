import { BailiwickError } from '../../errors.ts'
import type { MapNode } from '../../kube/node.ts'
import type { Entry } from '../model/entry.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { booleanField, listField, refuseOtherFields, structNode, textField } from './read-fields.ts'

/**
 * The list of field specs in the field `name` of `map`; absent: none. `knowsNotes`: they are for a transformer that knows
 * of kustomize's own annotations. Throws `kustomize-invalid`.
 */
export function readFieldSpecs(map: MapNode, name: string, knowsNotes = false): readonly FieldSpec[] {
  return listField(map, name).map(node => {
    const entry = structNode(node, `${name}[]`)
    refuseOtherFields(entry, ['group', 'version', 'kind', 'path', 'create'], name)
    const [group, version, kind] = (['group', 'version', 'kind'] as const).map(part => textField(entry, part)?.text)
    const path = textField(entry, 'path')
    const creates = booleanField(entry, 'create')
    if (path) refuseNotes(path, creates || knowsNotes)
    return {
      path: path?.text ?? '',
      ...(group ? { group } : {}),
      ...(version ? { version } : {}),
      ...(kind ? { kind } : {}),
      ...(creates ? { create: true } : {}),
    }
  })
}

/** What kustomize takes for the merge key of YAML, and what it loses. */
const LOST: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)<<(?:\[\])?(?:\/|$)/, 'merge key (<<)'],
  [/\ufeff/, 'byte order mark'],
]

/** kustomize keeps notes among the annotations of an object, so that a path can lead to annotations that nobody wrote. */
function refuseNotes({ text, origin }: Entry, creates: boolean): void {
  const lost = LOST.find(([part]) => part.test(text))
  if (lost) {
    const message = `field spec ${text.replaceAll('\ufeff', '\\ufeff')}: a ${lost[1]} in the path is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin })
  }
  const isWhole = /^\/?metadata\/annotations(?:\[\])?$/.test(text) && !creates
  if (!isWhole && !/^\/?metadata\/annotations\/.*config\\?\.(?:kubernetes|k8s)\\?\.io/.test(text)) return
  const message = `field spec ${text}: selects internal annotations of kustomize, which is not supported`
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    fix: 'Name one annotation, or add create: true.',
  })
}
