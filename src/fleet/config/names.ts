import { isNamespaceName, isSubdomain } from '../../kube/names.ts'
import { KUBERNETES } from '../../kube/scope/kubernetes-scopes.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { ociReference } from '../artifacts/oci-reference.ts'
import { text } from './shape.ts'

/** Short text for people, on one line. */
export const SENTENCE = text(/^\S(?:[^\p{Cc}]{0,498}\S)?$/u, 'one line of text with up to 500 characters')

/** Name of a cluster that is declared. */
export const CLUSTER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** Name of a directory below `clusters`, or of a cluster to which that one applies by a kubeconfig. */
export const CLUSTER = text(
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?: -> kubeconfig (?:ConfigMap\/)?[\w.?-]{1,253}(?:\/[\w.?-]{1,253}){1,2})?$/,
  'the name of a directory of clusters/',
)

/** Name of a tenant: a value of its label. */
export const TENANT = text(
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
  'the name of a tenant, as in its label toolkit.fluxcd.io/tenant',
)

export const NAMESPACE = text(/^[a-z0-9][a-z0-9-]{0,62}$/, 'the name of a namespace', isNamespaceName)

/** Name of an account, a ConfigMap, a Secret. */
export const NAME = text(/^[a-z0-9][a-z0-9.-]{0,252}$/, 'the name of an object', isSubdomain)

/** The user that applies something, as results show it. */
export const USER = text(
  /^[^\s\p{Cc}](?:[^\p{Cc}]{0,298}[^\s\p{Cc}])?$/u,
  'an account, such as system:serviceaccount:apps:dev-team',
)

/** Names of RBAC objects may hold more than others. */
export const ANY_NAME = text(/^[^\s\p{Cc}]{1,253}$/u, 'the name of an object')

export const KIND = text(
  /^(?:[a-z0-9][a-z0-9.-]{0,252}\/)?[A-Z][A-Za-z0-9]{0,62}$/,
  'a kind, such as `Kustomization` or `kustomize.toolkit.fluxcd.io/Kustomization`',
)

/** An API group of custom kinds: those of Kubernetes itself cannot be declared otherwise. */
export const GROUP = text(
  /^[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9][a-z0-9-]{0,62}){1,10}$/,
  'an API group of custom kinds, such as example.com',
  group => !Object.hasOwn(KUBERNETES, group),
)

export const CUSTOM_KIND = text(/^[A-Za-z][A-Za-z0-9]{0,62}$/, 'a kind, such as Widget')

/** A person or a team on GitHub, with the `@` of a mention or without. */
export const APPROVER = text(
  /^@?[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$/,
  'a login or a team, such as ada or acme/platform',
)

/** Name of a branch, without what git itself forbids in one. */
export const BRANCH = text(/^[^\s\p{Cc}~^:?*[\\]{1,250}$/u, 'the name of a branch')

export const ADDRESS = text(
  /^(?:(?:https?|ssh):\/\/|[\w.-]{1,60}@)[^\s\p{Cc}]{1,500}$/u,
  'the address of a repository, such as https://github.com/acme/fleet',
  address => normaliseUrl(address).startsWith('https://'),
)

/** What a source of any kind follows. */
export const SOURCE_ADDRESS = text(
  /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|[\w.-]{1,60}@)?[^\s\p{Cc}]{1,500}$/u,
  'the address of a source, such as https://github.com/acme/fleet or oci://ghcr.io/acme/fleet',
)

/** An OCI artifact with its tag. */
export const ARTIFACT = text(
  /^oci:\/\/[^\s\p{Cc}]{1,500}$/u,
  'the address of an OCI artifact with its tag, such as oci://ghcr.io/acme/fleet:latest',
  address => ociReference(address)?.tag !== undefined,
)

/** A tag, a range of versions, or the full name of a ref. */
export const REF = text(/^[^\p{Cc}]{1,250}$/u, 'a ref of a source, as in spec.ref of Flux')

export const COMMIT = text(/^[0-9a-f]{40}$/, 'a commit id of 40 hex digits')
