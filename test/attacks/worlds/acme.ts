import {
  DEV_URL,
  devFiles,
  FLEET_URL,
  fleetFiles,
  OPS_URL,
  opsFiles,
  sealedFleetFiles,
} from '../../fleet/mini-fleet.ts'
import type { World } from './index.ts'

/** One cluster, locked down; the tenants dev-team (namespace apps) and ops-team (namespace ops). */
export const acme: World = {
  name: 'acme',
  repositories: [
    { name: 'fleet', url: FLEET_URL, branch: 'main', files: fleetFiles },
    { name: 'dev', url: DEV_URL, branch: 'main', files: devFiles },
    { name: 'ops', url: OPS_URL, branch: 'main', files: opsFiles },
  ],
}

/** The same, and each Kustomization of it decrypts with a key of its own. */
export const sealed: World = {
  name: 'sealed',
  repositories: acme.repositories.map(one => (one.name === 'fleet' ? { ...one, files: sealedFleetFiles } : one)),
}
