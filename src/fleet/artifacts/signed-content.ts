import { at, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { normaliseUrl } from '../../kube/url.ts'

const ISSUER = 'https://token.actions.githubusercontent.com'
const SUBJECT =
  /^https:\/\/github\.com\/([\w-]+\/[\w.-]+)\/(\.github\/workflows\/[\w.-]+\.ya?ml)@refs\/heads\/([\w./-]+)$/

/** With `secretRef`, source-controller looks at no identity; `trustedRootSecretRef` names who may certify any. */
const FIELDS = new Set(['provider', 'matchOIDCIdentity'])

/** Whose workflow signed an artifact, and which. */
export interface Signed {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly branch: string
  readonly workflow: string
}

/**
 * The repository and branch whose own workflow must have signed an OCI artifact (`spec.verify.matchOIDCIdentity` of the
 * OCIRepository): source-controller takes no other content. `unclear` where the identities leave a choice, or other keys or roots
 * of trust count instead; undefined where no identity is asked for.
 */
export function signedContent(source: KubeObject): Signed | 'unclear' | undefined {
  const verify = at(source.root, ['spec', 'verify'])
  const identities = at(verify, ['matchOIDCIdentity'])
  if (identities === undefined) return undefined
  const isOther = verify?.type !== 'map' || [...verify.fields.keys()].some(key => !FIELDS.has(key))
  if (isOther || stringAt(verify, ['provider']) !== 'cosign') return 'unclear'
  if (identities.type !== 'list' || identities.items.length !== 1) return 'unclear'
  const [identity] = identities.items
  if (literal(stringAt(identity, ['issuer'])) !== ISSUER) return 'unclear'
  const [, name, workflow, branch] = SUBJECT.exec(literal(stringAt(identity, ['subject'])) ?? '') ?? []
  if (name === undefined || workflow === undefined || branch === undefined) return 'unclear'
  return { url: normaliseUrl(`https://github.com/${name}`), branch, workflow }
}

/** The one text that a regular expression matches; undefined where it may match others. A dot stands for itself here. */
function literal(pattern: string | undefined): string | undefined {
  const inner = /^\^([^^$]*)\$$/.exec(pattern ?? '')?.[1]?.replaceAll(/\\([./-])/g, '$1')
  return inner === undefined || /[\\^$*+?()[\]{}|]/.test(inner) ? undefined : inner
}
