import { accessSync, constants } from 'node:fs'
import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { BailiwickError } from '../../src/errors.ts'

/**
 * Throws `config` for a file of `kubeConfigs` or `kmsKeys` that cannot be read as the worker starts: later, only the
 * Kustomizations that need it would say so.
 */
export function assertFiles({ name, kubeConfigs = [], kmsKeys = [] }: ClusterBinding, clustersFile: string): void {
  const files = [
    ...kubeConfigs.map(({ ca }, at) => [`kubeConfigs[${at}].ca`, ca] as const),
    ...kmsKeys.flatMap(({ credentials }, at) =>
      Object.entries(credentials).flatMap(([key, value]) =>
        key === 'file' || key.endsWith('File') ? [[`kmsKeys[${at}]`, value] as const] : [],
      ),
    ),
  ]
  for (const [key, file] of files) {
    if (isReadable(file)) continue
    throw new BailiwickError('config', `${clustersFile}: ${key} of ${name} names ${file}, which cannot be read`, {
      fix: 'Put the file into the Secret bailiwick-worker-files, which deploy/worker mounts at /etc/bailiwick/files.',
    })
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}
