import type { MapNode } from '../../kube/node.ts'
import type { FieldSpec } from '../transform/field-spec.ts'
import { booleanField, listField, refuseOtherFields, structNode, textField } from './read-fields.ts'

/** The list of field specs in the field `name` of `map`; absent: none. Throws `kustomize-invalid`. */
export function readFieldSpecs(map: MapNode, name: string): readonly FieldSpec[] {
  return listField(map, name).map(node => {
    const entry = structNode(node, `${name}[]`)
    refuseOtherFields(entry, ['group', 'version', 'kind', 'path', 'create'], name)
    const [group, version, kind] = (['group', 'version', 'kind'] as const).map(part => textField(entry, part)?.text)
    return {
      path: textField(entry, 'path')?.text ?? '',
      ...(group ? { group } : {}),
      ...(version ? { version } : {}),
      ...(kind ? { kind } : {}),
      ...(booleanField(entry, 'create') ? { create: true } : {}),
    }
  })
}
