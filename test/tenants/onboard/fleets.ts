import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Tree } from '../../../src/git/tree.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { directoryFiles, fleetFiles } from '../../fleet/fleets/read-fleet.ts'

/** The fleet of these tests: dev-team on staging and production. */
export const acmeFleet = (): Tree => treeOf(fleetFiles('acme/fleet'))

const reference = join(import.meta.dirname, '../../../../shared/fleets/flux2-multi-tenancy/fleet')

/** fluxcd/flux2-multi-tenancy where it lies beside the project. */
export const referenceFleet = (): Tree | undefined =>
  existsSync(reference) ? treeOf(directoryFiles(reference)) : undefined
