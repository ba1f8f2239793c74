import { artifactPath } from '../../flux/artifact-path.ts'
import type { Fleet, FleetNode, NotSeen } from '../model/fleet.ts'
import { refKey } from '../model/ref.ts'
import { refutedKey } from './artifact-content.ts'

/** Sources whose content is evaluated as a folder of a repository although nothing proves that their artifacts hold it. */
export function assumedContent(nodes: readonly FleetNode[]): NotSeen[] {
  const found = new Map<string, NotSeen>()
  for (const { source } of nodes) {
    const { id, url, artifact } = source
    if (source.presumed) {
      const reason =
        'the fleet does not declare it. It is evaluated as this repository, which has every folder that is applied of it. Declare it in the fleet, or under sources in .github/bailiwick.yaml'
      found.set(JSON.stringify(id), { source: id, url, reason, what: 'content' })
    }
    if (artifact?.assumed === undefined || source.opaque !== undefined) continue
    const entry = {
      source: id,
      url: `oci://${artifact.address}`,
      reason: `evaluated as ./${artifact.folder} of ${source.url}, ${artifact.assumed}`,
      what: 'content' as const,
    }
    found.set(JSON.stringify(entry), entry)
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
}

/**
 * Artifacts that nothing but their name or signature says the content of, and that do not have a folder that the platform
 * applies of them: they are not what they were taken for. The root says nothing, every repository has one.
 */
export function refutedArtifacts({ nodes, repositories }: Pick<Fleet, 'nodes' | 'repositories'>): Map<string, string> {
  const tenants = new Map(nodes.map(({ key, tenant }) => [key, tenant]))
  const trees = new Map(repositories.map(({ url, ref, tree }) => [`${url} ${refKey(ref)}`, tree]))
  const refuted = new Map<string, string>()
  for (const { source, path, parent, namespace, name } of nodes) {
    const { artifact, url, ref } = source
    if (!artifact?.presumed) continue
    // what a tenant writes into a path says nothing about the artifact
    if (parent !== undefined && tenants.get(parent) !== undefined) continue
    const folder = artifactPath(path)
    if (folder !== '' && trees.get(`${url} ${refKey(ref)}`)?.entry(folder)?.type === 'directory') continue
    const key = refutedKey(artifact.address, url)
    const what =
      folder === ''
        ? `its root, so nothing shows which folder of ${url} it contains`
        : `./${folder}, which is not a folder of ${url}`
    if (!refuted.has(key)) refuted.set(key, `Kustomization ${namespace}/${name} applies ${what}`)
  }
  return refuted
}
