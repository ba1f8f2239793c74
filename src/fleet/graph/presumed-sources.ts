import { BailiwickError } from '../../errors.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { fluxKind, sourceNamed } from '../../flux/kinds.ts'
import { readName, readSpec } from '../model/read-spec.ts'
import type { Claim } from './draft.ts'
import type { Walk } from './walk.ts'

/**
 * Sources in git that nothing declares, and of which the platform's Kustomizations apply folders that this repository
 * has, all of them: they stand for this repository, which someone applied by hand. The root says nothing, every
 * repository has one.
 */
export function presumedSources({ waiting, sources, tenancy }: Walk): string[] {
  const { tree } = sources.own.artifact
  const isHere = (claim: Claim, id: string): boolean => {
    if (claim.parent.tenant !== undefined) return false
    try {
      const { namespace } = readName(claim.kustomization)
      const { path, source } = readSpec(claim.kustomization, namespace)
      if (fluxKind(sourceNamed(source.kind))?.source !== 'git') return false
      if (id !== `${source.kind}/${source.namespace}/${source.name}`) return false
      if (tenancy.owners.has(namespace) || tenancy.owners.has(source.namespace)) return false
      const folder = artifactPath(path)
      return folder !== '' && tree.entry(folder)?.type === 'directory'
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      return false
    }
  }
  return waiting.sources().flatMap(([id, claims]) => (claims.every(claim => isHere(claim, id)) ? [id] : []))
}
