import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

/** Throws for an address that is fetched from elsewhere (rule `kustomize-remote-base`). */
export function refuseRemote(text: string, origin: Origin): never {
  const shown = text.replace(/\/\/[^/@\s]*@/, '//***@')
  throw new BailiwickError(
    'kustomize-unsupported',
    `${JSON.stringify(shown)} is fetched from outside this repository`,
    {
      origin,
      rule: 'kustomize-remote-base',
      remote: shown,
      fix: 'Copy the files into this repository, or make them a Flux source of their own.',
    },
  )
}

/** Throws for charts (rule `kustomize-helm-inflate`). */
export function refuseHelm(name: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${name} inflates charts during the build; Flux refuses to`, {
    origin,
    rule: 'kustomize-helm-inflate',
    fix: 'Use a HelmRelease.',
  })
}

/** Throws for what is none of kustomize's builtins (rule `kustomize-plugin`). */
export function refusePlugin(name: string, origin: Origin): never {
  throw new BailiwickError('kustomize-unsupported', `${name} runs plugins during the build`, {
    origin,
    rule: 'kustomize-plugin',
    fix: 'Use patches, labels or configMapGenerator instead.',
  })
}
