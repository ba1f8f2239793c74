import type { ErrorCode } from '../../base/errors.ts'
import type { Message } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import type { EvaluatedNode, Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import type { HumanDecisions } from '../../verdict/decide.ts'
import type { Changes } from '../../verdict/diff/changes.ts'
import type { Fix } from '../../verdict/fixes.ts'
import { groupFindings } from '../../verdict/summary.ts'
import { shownLines } from '../../verdict/written-lines.ts'
import type { PagePlace, ReportContext } from '../outcome.ts'
import type { ImpactLines } from '../policy-impact.ts'
import type { View } from '../text/audience.ts'
import { markedValue } from '../text/place.ts'

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

/** Why there is no verdict, as far as readers of the repository may know it. */
export interface PageError {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
  readonly typed?: Message
  readonly typedFix?: Message
  readonly origin?: Omit<Origin, 'via'>
}

/**
 * What the page of one check of a commit shows: plain JSON of bounded size. It holds what the readers of its repository may see and
 * nothing else, so everyone with read access to the repository may read all of it.
 */
export interface CheckPage extends PagePlace {
  readonly kind: 'check'
  /** Normalized address. */
  readonly repository: string
  readonly headSha: string
  /** Name of the check that it explains: each of a commit has its own page. */
  readonly check: string
  readonly about: ReportContext['kind']
  readonly fleet?: { readonly repository: string; readonly commit: string }
  readonly conclusion: 'success' | 'failure'
  readonly title: string
  /** Absent: no verdict, because of `error` or because no fleet resources are affected. */
  readonly verdict?: Verdict
  /** The clusters whose Flux start is not declared in git, in one line. */
  readonly assumed?: string
  readonly hidden: View['hidden']
  readonly error?: PageError
  readonly decisions?: HumanDecisions
  /** What the change does to what the clusters get; absent where nothing was compared. */
  readonly changes?: Changes
  /** The effect of changed policies on existing objects; absent if there is none. */
  readonly impact?: ImpactLines
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

/**
 * The Kustomizations that an audience may see, parents first: without an audience all of them, else the tenants' own;
 * what brings these to the cluster is the platform's, and may be called after others.
 */
export function graphOf(nodes: readonly EvaluatedNode[], audience: readonly string[] | undefined): GraphNode[] {
  const isMine = ({ tenant }: EvaluatedNode) => audience === undefined || (tenant !== null && audience.includes(tenant))
  const seen = nodes.filter(node => isMine(node) && !node.narrower)
  const keys = new Set(seen.map(node => node.key))
  return seen.map(({ key, parent, cluster, namespace, name, tenant, user, source, objects, suspend }) => ({
    key,
    parent: parent !== null && keys.has(parent) ? parent : null,
    cluster,
    namespace,
    name,
    tenant: tenant ?? '',
    identity: user,
    source: { id: source.id, url: source.url, commit: source.commit, notSeen: source.opaque ?? '' },
    objects: objects.length,
    suspend,
  }))
}

/** The lines around an offending value, as a page keeps them. */
export interface Excerpt {
  readonly file: string
  /** Line and column of the value, 1-based. */
  readonly line: number
  readonly column: number
  /** Number of the first of `lines`. */
  readonly first: number
  /** null: a line that is not shown. */
  readonly lines: readonly (string | null)[]
  /** Where the value is in its line. */
  readonly mark: { readonly start: number; readonly end: number }
}

const AROUND = 3
/** Findings of one page with an excerpt. */
export const MAX_EXCERPTS = 100
const LARGEST = 1024 * 1024

/** The excerpts of a verdict's new findings and errors in one repository, the most severe first, and how many more there would be. */
export function excerptsOf(
  { violations, warnings, errors }: Verdict,
  repository: string,
  read: (path: string) => string | undefined,
): { readonly excerpts: readonly Excerpt[]; readonly left: number } {
  const places = new Map<string, Pick<Finding, 'origin' | 'object'> | NodeFailure>()
  const isHere = ({ origin, state, ...one }: Finding | NodeFailure) =>
    state === 'new' && !('isBefore' in one) && origin.repository === repository && origin.file !== '' && origin.line > 0
  const findings = [violations, warnings].flatMap(list =>
    groupFindings(list.filter(isHere)).map(({ finding }) => finding),
  )
  for (const one of [...findings, ...errors.filter(isHere)]) places.set(placeKey(one.origin), one)
  const files = new Map<string, readonly (string | undefined)[]>()
  const linesOf = (file: string) => {
    const known = files.get(file)
    if (known) return known
    const text = read(file) ?? ''
    const lines = text.length > LARGEST ? [] : shownLines(text)
    files.set(file, lines)
    return lines
  }
  const shown = [...places.values()].slice(0, MAX_EXCERPTS)
  return {
    excerpts: shown.flatMap(one => excerptOf(one, linesOf(one.origin.file)) ?? []),
    left: places.size - shown.length,
  }
}

/** The excerpt at a place; undefined if there is none. */
export function excerptAt(
  excerpts: readonly Excerpt[],
  { file, line, column }: Omit<Origin, 'via'>,
): Excerpt | undefined {
  return excerpts.find(one => one.file === file && one.line === line && one.column === column)
}

const placeKey = ({ file, line, column }: Omit<Origin, 'via'>) => JSON.stringify([file, line, column])

/** Nothing of a Secret, also where it is patched in a file of other objects. */
function excerptOf(
  one: Pick<Finding, 'origin' | 'object'> | NodeFailure,
  lines: readonly (string | undefined)[],
): Excerpt | undefined {
  const { file, line, column } = one.origin
  const own = lines[line - 1]
  const mark = own === undefined ? undefined : markedValue(own, column)
  if (!mark || ('object' in one && one.object.kind === 'Secret')) return undefined
  const first = Math.max(1, line - AROUND)
  const around = lines.slice(first - 1, line + AROUND).map(text => text ?? null)
  // what follows the last newline is not a line
  if (first + around.length - 1 === lines.length && around.at(-1) === '' && around.length > 1) around.pop()
  return { file, line, column, first, lines: around, mark }
}
