import { acme } from './acme.ts'
import type { World } from './index.ts'

/** The same without Flux's lockdown flags. */
export const open: World = {
  name: 'open',
  repositories: acme.repositories.map(repository =>
    repository.name === 'fleet' ? { ...repository, files: { ...repository.files, ...withoutLockdown() } } : repository,
  ),
}

function withoutLockdown() {
  const path = 'clusters/staging/flux-system/kustomization.yaml'
  return { [path]: 'resources:\n  - gotk-components.yaml\n  - gotk-sync.yaml\n' }
}
