import type { CommandLine } from '../../src/command/command-line.ts'
import type { Octokit } from '../../src/github/client/octokit.ts'
import type { IssueComment } from '../../src/github/comments/issue-comment.ts'
import type { RepositoryRole } from '../../src/github/people/permission.ts'
import type { Attempt, CommandJob } from '../../src/queue/queue.ts'
import type { DecisionKind } from '../../src/trail/trail-entry.ts'
import type { Installation } from '../context/installation.ts'
import type { FleetPlace, ReadableRepository } from '../context/readable-repository.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { PublishTarget } from '../publish/publish-verdict.ts'

/** A command and its context: the person and the repository, as GitHub has them now. */
export interface CommandContext {
  readonly context: WorkerContext
  readonly data: CommandJob
  readonly attempt: Attempt
  /** Where the answer goes: its token reaches no other repository. */
  readonly place: PublishTarget
  /** For everything that is only read: its token may write nowhere. */
  readonly reader: Octokit
  readonly installation: Installation
  readonly repository: ReadableRepository
  readonly comment: IssueComment
  readonly line: CommandLine
  /** What the author of the comment may do on this repository. */
  readonly role: RepositoryRole
  /** Fleets of the installation for which the author decides; asked once. */
  fleetsOf(): Promise<readonly FleetPlace[]>
  /** The day in UTC, `YYYY-MM-DD`. */
  readonly today: string
}

/** What came of it. An answer in words only where words were asked for. */
interface Done {
  readonly reaction: '+1' | 'rocket'
  /** Markdown. */
  readonly reply?: string
}

/** One command of `/bailiwick`. */
export interface BailiwickCommand {
  readonly name: string
  /** The decision kind that the trail records; `none`: the command only answers or evaluates again. */
  readonly decision: DecisionKind | 'none'
  /** How to write it, without `/bailiwick`. */
  readonly usage: string
  /** One sentence for people. */
  readonly summary: string
  /** `pull-request`: only there. */
  readonly where: 'anywhere' | 'pull-request'
  /** Whether it takes long enough that someone wants to see that it began. */
  readonly slow: boolean
  /** Whether the person may, by what GitHub and the fleet's own file say at this moment. */
  may(command: CommandContext): Promise<boolean>
  /** Throws BailiwickError where it cannot be done as it is asked for; that is what the reply says. */
  run(command: CommandContext): Promise<Done>
  /** What the reply begins with where it cannot be done. */
  readonly refusal?: string
}
