import type { FleetNode, NotSeen } from '../model/fleet.ts'

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
      reason: reasonOf(source.url, artifact),
      what: 'content' as const,
    }
    found.set(JSON.stringify(entry), entry)
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
}

function reasonOf(url: string, { folder, assumed }: NonNullable<FleetNode['source']['artifact']>): string {
  const what = `./${folder} of ${url}`
  return `evaluated as ${what}, because of ${assumed}. Anyone who can push to the registry can change the content. Set spec.verify with matchOIDCIdentity of that workflow to prove it`
}
