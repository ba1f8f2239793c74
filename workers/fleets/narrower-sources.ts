import { isWider } from '../../src/fleet/model/visibility.ts'
import type { Installation } from '../context/installation.ts'
import type { RevisionSetSnapshot } from '../threads/protocol.ts'

/**
 * Those of the repositories at `urls` that fewer people can see than the one at `place`: their text is not published there.
 * What GitHub does not list counts as private.
 */
export async function narrowerSources(
  installation: Pick<Installation, 'repositories'>,
  place: string,
  urls: readonly string[],
): Promise<readonly string[]> {
  const repositories = new Map((await installation.repositories()).map(one => [one.url, one.visibility]))
  const here = repositories.get(place) ?? 'public'
  return [...new Set(urls)].filter(url => url !== place && isWider(here, repositories.get(url) ?? 'private')).sort()
}

/** The same, as if some sources could not be seen. */
export function withoutSources(snapshot: RevisionSetSnapshot, urls: ReadonlySet<string>): RevisionSetSnapshot {
  if (urls.size === 0) return snapshot
  const left = snapshot.sources.filter(({ url }) => urls.has(url))
  const reason = 'fewer people can see it than this repository'
  return {
    ...snapshot,
    sources: snapshot.sources.filter(({ url }) => !urls.has(url)),
    opaque: [...snapshot.opaque, ...left.map(({ url, ref }) => ({ url, ref, reason }))],
  }
}
