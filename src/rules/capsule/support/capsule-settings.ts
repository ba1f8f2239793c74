import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import { HELM_RELEASE } from '../../../flux/kinds.ts'
import { at, type Path } from '../../../kube/node.ts'
import { CONFIGURATION, capsuleObjects } from './capsule-tenants.ts'

/** Where a cluster says whom Capsule looks at. */
export interface CapsuleSettings {
  readonly rendered: Rendered
  /** Path of the map that holds the fields. */
  readonly path: Path
  /** Name of the list of groups in it. */
  readonly groups: string
}

/** What Capsule's chart makes a CapsuleConfiguration of. */
const OPTIONS = ['spec', 'values', 'manager', 'options']
const GROUPS = ['capsuleUserGroups', 'userGroups']

/** The CapsuleConfigurations of a cluster; where there is none, the values of Capsule's chart that name groups. */
export function capsuleSettings(index: FleetIndex, cluster: string): CapsuleSettings[] {
  const own = capsuleObjects(index, cluster, CONFIGURATION)
  if (own.length > 0) return own.map(rendered => ({ rendered, path: ['spec'], groups: 'userGroups' }))
  return capsuleObjects(index, cluster, HELM_RELEASE).flatMap(rendered => {
    const groups = GROUPS.find(name => at(rendered.object.root, [...OPTIONS, name]))
    return groups === undefined ? [] : [{ rendered, path: OPTIONS, groups }]
  })
}
