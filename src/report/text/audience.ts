import { fixOf, type Message, sayingOf, typedMessage, type Worded } from '../../base/message.ts'
import type { NotSeen } from '../../fleet/model/fleet.ts'
import type {
  ChangedFile,
  EvaluatedNode,
  Finding,
  GrantedWaiver,
  NodeFailure,
  Verdict,
} from '../../rules/model/finding.ts'
import { evaluatedIn } from '../../verdict/evaluated.ts'
import { countFindings } from '../../verdict/summary.ts'
import { isOfFlux, PrivateWords, through, type Writing } from './private-words.ts'

/** A verdict as one audience may see it, and how much of it that audience is not shown. */
export interface View {
  readonly verdict: Verdict
  /** Violations and errors of others that decide the result, counted only: each cause once. */
  readonly hidden: { readonly violations: number; readonly errors: number }
}

/**
 * What the repository of the tenants `audience` may be shown: its own findings, clusters and sources, in words that name
 * nothing of others; other tenants are counted, never named. Without an audience (the fleet's own repository) everything.
 * `nodes`: what was evaluated, by which names of others are known that the verdict itself does not list.
 */
export function viewFor(
  verdict: Verdict,
  audience: readonly string[] | undefined,
  repository: string,
  nodes: readonly EvaluatedNode[] = [],
): View {
  if (audience === undefined) return { verdict, hidden: { violations: 0, errors: 0 } }
  const words = new PrivateWords(verdict, audience, nodes)
  const hide = (text: string) => words.hide(text)
  const ofOthers = (text: string) => words.hide(text, { byOthers: true })
  const tenants = verdict.tenants.filter(tenant => audience.includes(tenant.name))
  const mine = <T extends { tenant: string }>(list: readonly T[]) => list.filter(item => audience.includes(item.tenant))
  const own = [...mine(verdict.violations), ...mine(verdict.warnings), ...mine(verdict.errors)]
  const clusters = new Set([...tenants.flatMap(tenant => tenant.clusters), ...own.map(item => item.cluster)])
  const namespaces = new Set(tenants.flatMap(tenant => tenant.namespaces))
  // `<kind>/<namespace>/<name>`: what is called so in another namespace is someone else's
  const seen = verdict.notSeen.filter(
    one => namespaces.has(one.source.split('/')[1] ?? '') || (one.url === repository && !isLent(one, audience, nodes)),
  )
  return {
    verdict: {
      ...verdict,
      summary: '',
      requiredApprovals: through(verdict.requiredApprovals, ofOthers, ['rule', 'source']),
      changedFiles: verdict.changedIn === repository ? filesFor(verdict.changedFiles ?? [], audience, nodes) : [],
      evaluated: evaluatedFor(verdict, audience, nodes),
      clusters: verdict.clusters.filter(cluster => clusters.has(cluster.name)),
      tenants: through(tenants, hide, ['name', 'clusters', 'namespaces']),
      violations: mine(verdict.violations).map(finding => ownFinding(finding, words, repository)),
      warnings: mine(verdict.warnings).map(finding => ownFinding(finding, words, repository)),
      notEvaluated: mine(verdict.notEvaluated).map(finding => ownFinding(finding, words, repository)),
      errors: mine(verdict.errors).map(failure => ownFailure(failure, words, repository)),
      notSeen: seen.map(one => ({
        ...through(one, hide, one.url === repository ? ['what', 'url'] : ['what']),
        source: ofOthers(one.source),
      })),
      // they are in the fleet's repository, and belong to no tenant yet
      notReached: [],
    },
    hidden: {
      violations: countFindings(foreignNew(verdict.violations, audience)),
      errors: foreignNew(verdict.errors, audience).length,
    },
  }
}

/** Whether only other tenants follow a source: it leads here, and has no text here. */
function isLent({ source, url }: NotSeen, audience: readonly string[], nodes: readonly EvaluatedNode[]): boolean {
  const followers = nodes.filter(node => node.source.id === source && node.source.url === url)
  return followers.length > 0 && followers.every(({ tenant }) => tenant !== null && !audience.includes(tenant))
}

/** Kustomizations of others that render a file are left out; what may apply it unseen is the tenant's own. */
function filesFor(files: readonly ChangedFile[], audience: readonly string[], nodes: readonly EvaluatedNode[]) {
  const own = new Set(nodes.flatMap(({ key, tenant }) => (audience.includes(tenant ?? '') ? [key] : [])))
  return files.map(file => {
    const by = file.state === 'rendered' ? file.by.filter(key => own.has(key)) : file.by
    return by.length === file.by.length ? file : { ...file, by, readers: by.length }
  })
}

/** Not even the number of others' Kustomizations is shown; a reader's own are listed under its tenants. */
function evaluatedFor({ errors, evaluated }: Verdict, audience: readonly string[], nodes: readonly EvaluatedNode[]) {
  const own = nodes.filter(({ tenant }) => audience.includes(tenant ?? ''))
  return nodes.length === 0
    ? evaluated
    : evaluatedIn(
        own,
        errors.filter(({ tenant }) => audience.includes(tenant)),
      )
}

function foreignNew<T extends Finding | NodeFailure>(list: readonly T[], audience: readonly string[]): T[] {
  return list.filter(item => !audience.includes(item.tenant) && item.state === 'new')
}

function ownFinding(finding: Finding, words: PrivateWords, repository: string): Finding {
  const { object, origin, via } = finding
  const byOthers = origin.repository !== repository
  // the object is what the tenant wrote itself, but where someone else wrote what is wrong with it
  const writing = byOthers ? { byOthers } : { written: [object.name, object.namespace] }
  return {
    ...findingThrough(finding, words, writing, { byOthers: true }),
    object: byOthers ? through(object, text => words.hide(text, writing), ['apiVersion', 'kind']) : object,
    origin: ownOrigin(origin, words, repository),
    via: via.map(step => through(step, text => words.hide(text, { byOthers: isOfFlux(step) }), ['step'])),
  }
}

/**
 * A finding in words that an audience may see, and with an edit only where that names nothing of others. `writing`: of its own
 * words; `ofPolicy`: of a policy, whose name and file may contain names of others.
 */
export function findingThrough(finding: Finding, words: PrivateWords, writing: Writing, ofPolicy?: Writing): Finding {
  const { edit, allowed = [], clusterAnswer, waiver, policy, ...rest } = finding
  const hide = (text: string) => words.hide(text, writing)
  const isSafe = (text: string) => hide(text) === text
  const written = edit && 'set' in edit ? edit.set : edit && 'add' in edit ? edit.add : ''
  return {
    ...ownWords(rest, message => words.hideIn(message, writing)),
    ...(clusterAnswer === undefined ? {} : { clusterAnswer: hide(clusterAnswer) }),
    ...(waiver ? { waiver: ownWaiver(waiver, hide) } : {}),
    ...(policy ? { policy: through(policy, text => words.hide(text, ofPolicy), ['kind', 'action']) } : {}),
    ...(edit && isSafe(written) ? { edit } : {}),
    // what names others is left to the words of the rule, which are hidden one by one
    ...(allowed.length > 0 && allowed.every(isSafe) ? { allowed } : {}),
  }
}

function ownFailure(failure: NodeFailure, words: PrivateWords, repository: string): NodeFailure {
  const writing = { byOthers: failure.origin.repository !== repository }
  return {
    ...ownWords(failure, message => words.hideIn(message, writing)),
    origin: ownOrigin(failure.origin, words, repository),
    node: words.hide(failure.node, writing),
  }
}

/** Files of its own repository are not private to it; those of the fleet may be named after others. */
function ownOrigin(origin: Finding['origin'], words: PrivateWords, repository: string): Finding['origin'] {
  return origin.repository === repository ? origin : through(origin, text => words.hide(text, { byOthers: true }))
}

/** A waiver in words that name nothing of others. Who and why are values: each is hidden as quoted. */
function ownWaiver({ expires, approver, reason }: GrantedWaiver, hide: (text: string) => string): GrantedWaiver {
  const quoted = (value: string) => hide(`"${value}"`).slice(1, -1)
  return { expires, approver: quoted(approver), reason: quoted(reason) }
}

/** The same with message and fix as `hide` leaves them: nothing of what they were stays. */
export function ownWords<T extends Worded & { readonly fix: string }>(one: T, hide: (message: Message) => Message) {
  const { message: _message, fix: _fix, typed: _typed, typedFix: _typedFix, ...rest } = one
  return { ...rest, ...sayingOf(hide(typedMessage(one)), hide(fixOf(one))) }
}
