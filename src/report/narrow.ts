import type { Changes } from '../diff/changes.ts'
import type { EvaluatedNode, Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { ownPolicy } from './text/own-policy.ts'
import { ownWaiver } from './text/own-waiver.ts'
import { ownWords } from './text/own-words.ts'
import { PrivateWords } from './text/private-words.ts'

/** What is told in place of a text whose source fewer people can see. */
const NARROWER = 'The details are in a source that fewer people can see than this repository.'
const FIX = 'Ask a fleet admin: the fleet repository and the source have the details.'
const NOWHERE = { repository: '', file: '', line: 1, column: 1 }

/** What was evaluated, as it may be published. */
interface Published {
  readonly verdict: Verdict
  /** Those whose content fewer people can see are marked `narrower`. */
  readonly nodes: readonly EvaluatedNode[]
  readonly changes?: Changes
}

/**
 * The same without the text of sources that fewer people can see than what is published there: a finding keeps its rule,
 * severity and cluster, so that it counts and blocks as before, and what the sources say is left out. `narrower`: addresses of
 * such sources; with none everything stays as it is.
 */
export function narrowed({ verdict, nodes, changes }: Published, narrower: ReadonlySet<string>): Published {
  if (narrower.size === 0) return { verdict, nodes, ...(changes ? { changes } : {}) }
  const marked = nodes.map(node => (isNarrower(node, narrower) ? { ...node, narrower: true as const } : node))
  const byKey = new Map(marked.map(node => [node.key, node]))
  const words = new PrivateWords(
    verdict,
    verdict.tenants.map(tenant => tenant.name),
    marked,
  )
  const hides = ({ node, origin, state }: Finding | NodeFailure) => {
    const known = byKey.get(node)
    return narrower.has(origin.repository) || known?.narrower === true || (known === undefined && state === 'fixed')
  }
  const parentOf = (key: string) => byKey.get(byKey.get(key)?.parent ?? '')
  const finding = (one: Finding) => (hides(one) ? withoutText(one) : withoutNames(one, words))
  return {
    verdict: {
      ...verdict,
      summary: '',
      violations: verdict.violations.map(finding),
      warnings: verdict.warnings.map(finding),
      errors: verdict.errors.map(one =>
        hides(one) ? failureWithoutText(one, parentOf(one.node)) : failureOf(one, words),
      ),
      requiredApprovals: verdict.requiredApprovals.map(one => ({
        ...one,
        message: words.hide(one.message),
        path: words.hide(one.path),
        ...(one.because === undefined ? {} : { because: words.hide(one.because) }),
      })),
      ...(verdict.changedFiles
        ? {
            changedFiles: verdict.changedFiles.map(one => ({ ...one, by: one.by.map(text => words.hide(text)) })),
          }
        : {}),
      notSeen: verdict.notSeen.map(({ what, source, url, reason }) => ({
        ...(what ? { what } : {}),
        source: words.hide(source),
        url: words.hide(url),
        reason: words.hide(reason),
      })),
      notReached: verdict.notReached.flatMap(({ id, origin, reason }) =>
        narrower.has(origin.repository) ? [] : [{ id: words.hide(id), origin, reason: words.hide(reason) }],
      ),
    },
    nodes: marked,
    ...(changes ? { changes: changesWithout(changes, narrower, marked) } : {}),
  }
}

/** What was not read has no text: a node that follows it is told of as if nobody knew it. */
function isNarrower({ source, charts = [] }: EvaluatedNode, narrower: ReadonlySet<string>): boolean {
  const read = [source, ...(source.includes ?? []), ...charts].filter(({ commit }) => commit !== '')
  return read.some(({ url }) => narrower.has(url))
}

function withoutText(finding: Finding): Finding {
  const { edit: _edit, allowed: _allowed, cause: _cause, clusterAnswer: _answer, ...more } = finding
  const { waiver: _waiver, policy: _policy, said: _said, saidFix: _saidFix, ...rest } = more
  return {
    ...rest,
    ...{ identity: '', field: '', origin: NOWHERE, via: [], message: NARROWER, fix: FIX },
    object: { apiVersion: '', kind: 'Object', namespace: '', name: '(not shown)' },
  }
}

/** Its own text, with the names that only narrower sources have left out, and without files of theirs. */
function withoutNames(
  { edit, allowed = [], clusterAnswer, waiver, policy, ...finding }: Finding,
  words: PrivateWords,
): Finding {
  const { object } = finding
  const writing = { written: [object.name, object.namespace] }
  const hide = (text: string) => words.hide(text, writing)
  const written = edit && ('set' in edit ? edit.set : 'add' in edit ? edit.add : '')
  return {
    ...ownWords(finding, message => words.hideIn(message, writing)),
    ...(clusterAnswer === undefined ? {} : { clusterAnswer: hide(clusterAnswer) }),
    ...(waiver ? { waiver: ownWaiver(waiver, hide) } : {}),
    ...(policy ? { policy: ownPolicy(policy, text => words.hide(text)) } : {}),
    via: finding.via.filter(({ step }) => step !== 'kustomization' && !step.startsWith('flux-')),
    ...(edit && (written === undefined || hide(written) === written) ? { edit } : {}),
    ...(allowed.length > 0 && allowed.every(value => hide(value) === value) ? { allowed } : {}),
  }
}

/** A Kustomization is called what its parent's source calls it. */
function failureWithoutText(
  { said: _said, saidFix: _fix, ...failure }: NodeFailure,
  parent: EvaluatedNode | undefined,
): NodeFailure {
  const isNamed = parent !== undefined && !parent.narrower
  return { ...failure, origin: NOWHERE, message: NARROWER, fix: FIX, ...(isNamed ? {} : { node: failure.cluster }) }
}

function failureOf(failure: NodeFailure, words: PrivateWords): NodeFailure {
  // it says what the declaration says, and must be the same whether or not there is such a repository
  if (failure.code === 'source-unreadable') return failure
  return ownWords(failure, message => words.hideIn(message))
}

/** Only of Kustomizations that read nothing narrower on either side; rights follow from whatever any of them renders. */
function changesWithout(changes: Changes, narrower: ReadonlySet<string>, nodes: readonly EvaluatedNode[]): Changes {
  const shown = changes.nodes.filter(({ sources }) => !sources.some(url => narrower.has(url)))
  const isWhole = !nodes.some(node => node.narrower)
  return {
    ...changes,
    nodes: shown,
    rights: isWhole ? changes.rights : [],
    hidden: changes.hidden + changes.nodes.length - shown.length,
  }
}
