/** A commit of a trail's branch, as GitHub shows it. */
export interface TrailCommit {
  readonly sha: string
  /** Logins of the accounts that GitHub found; absent: none. */
  readonly author?: string | undefined
  readonly committer?: string | undefined
  /** GitHub verified its signature. */
  readonly verified: boolean
}

/** GitHub's own account, by which it signs what it commits for others. */
const WEB_FLOW = 'web-flow'

/**
 * The commits that the App did not write. Anybody can name the App as the author of a commit, and sign it as its committer: a
 * commit counts only where GitHub verified its signature, and GitHub or the App is its committer.
 */
export function foreignCommits(commits: readonly TrailCommit[], slug: string): readonly TrailCommit[] {
  const bot = `${slug}[bot]`.toLowerCase()
  return commits.filter(({ author = '', committer = '', verified }) => {
    return !verified || author.toLowerCase() !== bot || ![bot, WEB_FLOW].includes(committer.toLowerCase())
  })
}
