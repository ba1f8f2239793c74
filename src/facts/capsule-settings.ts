import { HELM_RELEASE } from '../flux/kinds.ts'
import { at, type Path } from '../kube/node.ts'
import { capsuleVersion } from './capsule-version.ts'
import type { Rendered } from './object-table.ts'

/** Where a cluster says whom Capsule looks at. */
export interface CapsuleSettings {
  readonly rendered: Rendered
  /** Path of the map that holds the fields. */
  readonly path: Path
  /** Name of the list of groups in it. */
  readonly groups: string
  /** Whether this version of Capsule has `users` and `administrators` (0.12): the API server drops what it does not know. */
  readonly hasUsers: boolean
}

/** What Capsule's chart makes a CapsuleConfiguration of. */
const OPTIONS = ['spec', 'values', 'manager', 'options']
const GROUPS = ['capsuleUserGroups', 'userGroups', 'users']

/**
 * The CapsuleConfigurations of a cluster; where there is none, the values of Capsule's chart that name groups. `platform`: what
 * the platform renders of a kind.
 */
export function capsuleSettings(platform: (kind: string) => readonly Rendered[]): CapsuleSettings[] {
  const hasUsers = (capsuleVersion(platform) ?? 12) >= 12
  const own = platform('capsule.clastix.io/CapsuleConfiguration')
  if (own.length > 0) return own.map(rendered => ({ rendered, path: ['spec'], groups: 'userGroups', hasUsers }))
  return platform(HELM_RELEASE).flatMap(rendered => {
    const groups = GROUPS.find(name => at(rendered.object.root, [...OPTIONS, name]))
    return groups === undefined ? [] : [{ rendered, path: OPTIONS, groups, hasUsers }]
  })
}
