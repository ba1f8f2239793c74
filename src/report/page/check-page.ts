import type { Changes } from '../../diff/changes.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Fix } from '../../fix/fixes-of.ts'
import type { Visibility } from '../../fleet/model/visibility.ts'
import type { HumanDecisions } from '../../gate/circumstances.ts'
import type { Message } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import type { Verdict } from '../../rules/model/finding.ts'
import type { ReportContext } from '../outcome.ts'
import type { ImpactLines } from '../policies/impact-lines.ts'
import type { View } from '../text/audience.ts'
import type { Excerpt } from './excerpt.ts'

/** A Kustomization of the graph, for people. */
export interface GraphNode {
  /** `<cluster>/<namespace>/<name>`. */
  readonly key: string
  readonly parent: string | null
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  /** '' for the platform. */
  readonly tenant: string
  readonly identity: string
  readonly source: { readonly id: string; readonly url: string; readonly commit: string; readonly notSeen: string }
  readonly objects: number
  readonly suspend: boolean
}

/** A pull request, as far as a page names it. */
export interface PagePull {
  readonly number: number
  readonly title: string
  /** '' if the account is gone. */
  readonly author: string
  /** Branch of the head, with its repository if that is a fork. */
  readonly head: string
  readonly base: string
}

/** A commit that is not the head of a pull request, as far as a page describes it. */
export interface PageCommit {
  /** The branch that it was the tip of; of a merge group the branch that it would be merged into. */
  readonly branch: string
  /** First line of its message; absent: not known. */
  readonly subject?: string
  /** As the commit claims; '' for none, absent: not known. */
  readonly author?: string
  /** Pull requests of a merge group; absent: not known, or no merge group. */
  readonly pulls?: readonly Pick<PagePull, 'number' | 'title' | 'author'>[]
  /** How many more of them there are. */
  readonly morePulls?: number
}

/** Why there is no verdict, as far as whoever reads the repository may know it. */
export interface PageError {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
  readonly said?: Message
  readonly saidFix?: Message
  readonly origin?: Omit<Origin, 'via'>
}

/**
 * What the page of one check of a commit shows: plain JSON of bounded size. It holds what the readers of its repository may see and
 * nothing else, so whoever may read the repository may read all of it.
 */
export interface CheckPage {
  readonly kind: 'check'
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository; absent where nobody knew it. A name can change hands, an id cannot. */
  readonly repositoryId?: number
  /** Who could see the repository when it was made: where more can now, it is not shown. Absent: as of a private one. */
  readonly visibility?: Visibility
  /** Normalised address. */
  readonly repository: string
  readonly headSha: string
  /** Name of the check that it explains: each of a commit has its own page. */
  readonly check: string
  readonly about: ReportContext['kind']
  readonly fleet?: { readonly repository: string; readonly commit: string }
  /** When it was evaluated, ISO 8601. */
  readonly at: string
  readonly conclusion: 'success' | 'failure'
  readonly title: string
  /** Absent: there is no verdict, for `error`, or because nothing of a fleet is touched. */
  readonly verdict?: Verdict
  /** Clusters of which nothing in git says where Flux starts, in one line. */
  readonly assumed?: string
  readonly hidden: View['hidden']
  readonly error?: PageError
  readonly circumstances?: HumanDecisions
  /** What the change does to what the clusters get; absent where nothing was compared. */
  readonly changes?: Changes
  /** The effect of changed policies on existing objects; absent if there is none. */
  readonly impact?: ImpactLines & { readonly heading: string }
  readonly graph: readonly GraphNode[]
  /** The commit of each repository that was evaluated, by address: what links to files point at. */
  readonly commits: Readonly<Record<string, string>>
  /** Source lines of new findings, only of the repository's own files. */
  readonly excerpts?: readonly Excerpt[]
  /** Certain edits of new findings. */
  readonly fixes?: readonly Fix[]
  /** The pull request whose head it is; absent for other commits. */
  readonly pull?: PagePull
  /** The commit of a branch or of a merge group. Absent on a page from an older version. */
  readonly commit?: PageCommit
  /** How much of each list was left out for size. */
  readonly left: Readonly<Record<string, number>>
}
