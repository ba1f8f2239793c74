import { type CapsuleSettings, capsuleSettings as settingsOf } from '../../../facts/capsule-settings.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { capsuleObjects } from './capsule-tenants.ts'

export type { CapsuleSettings }

/** Where a cluster says whom Capsule looks at. */
export const capsuleSettings = (index: FleetIndex, cluster: string): CapsuleSettings[] =>
  settingsOf(kind => capsuleObjects(index, cluster, kind))
