import type { FakeGitHub } from '../../../tools/github/start.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'

export const DEV = 'acme/dev-team'

/** The same ConfigMap from two places: each passes alone, and both together are the same object twice. */
export const IN_BASE = {
  'base/kustomization.yaml': withResource('base/kustomization.yaml', 'extra.yaml'),
  'base/extra.yaml': configMap(),
}
export const IN_STAGING = {
  'staging/kustomization.yaml': withResource('staging/kustomization.yaml', 'more.yaml'),
  'staging/more.yaml': configMap(),
}

/** A branch of dev-team with these files, and a pull request of it. Returns its number. */
export function openDev(github: FakeGitHub, branch: string, files: Readonly<Record<string, string>>): number {
  return github.propose({ repo: DEV, branch, files, as: 'dora' })
}

export function withResource(path: string, resource: string): string {
  return fleetFiles(DEV)[path]!.replace('resources:\n', `resources:\n  - ${resource}\n`)
}

function configMap(): string {
  return 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n  namespace: apps\ndata:\n  a: b\n'
}
