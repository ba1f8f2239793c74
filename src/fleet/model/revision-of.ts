import type { SourceContent } from './input.ts'

type Revision = Pick<SourceContent, 'commit' | 'tag' | 'originRevision'>

/** Which content of a source it is, without the content. */
export function revisionOf({ commit, tag, originRevision }: Revision): Revision {
  return {
    commit,
    ...(tag === undefined ? {} : { tag }),
    ...(originRevision === undefined ? {} : { originRevision }),
  }
}

/** Text that differs for content of another revision, or of the same under another name. */
export const revisionKey = ({ commit, tag }: Revision): string => (tag === undefined ? commit : `${tag}@${commit}`)
