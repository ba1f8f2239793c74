import type { Scope } from '../scope.ts'

/**
 * What a value names:
 * - `namespace`: a namespace, a list of them, or a selection (`any`, `matchNames`, labels, patterns);
 * - `service`: a Service that traffic is sent to or taken from; `gateway`: a parent that is there to be shared;
 * - `secret`, `configMap`, `identity` (a service account), `volume` (a claim or snapshot), `object` (anything else);
 * - `clusterObject`: an object that belongs to the whole cluster and that somebody has to hand out;
 * - `host`: a host whose traffic is asked for; `url`: an address that a controller or a proxy connects to;
 * - `image`, `hostPath`, `file` (a path in the controller's own container), `code` (runs in what everybody shares);
 * - `ambient`: present means that the controller signs in with its own account;
 * - `embeds`: an object, or a part of one, that a controller makes.
 */
export type Named =
  | 'namespace'
  | 'service'
  | 'gateway'
  | 'secret'
  | 'configMap'
  | 'identity'
  | 'volume'
  | 'object'
  | 'clusterObject'
  | 'host'
  | 'url'
  | 'image'
  | 'hostPath'
  | 'file'
  | 'code'
  | 'ambient'
  | 'embeds'

/**
 * How it is written:
 * - `name` (default): the name alone, in the namespace of the object; of a namespace its name;
 * - `reference`: a map with `name` and `namespace` (or the keys of `keys`); `path`: `<namespace>/<name>`;
 * - `host`: `<service>.<namespace>.svc...`; `url`: an address with such a host;
 * - `apiPath`: a path of the API server; `selection`: a map that selects namespaces; `patterns`: names or patterns with
 *   commas between; `match`: a rule of Traefik.
 */
export type Form = 'name' | 'reference' | 'path' | 'host' | 'url' | 'apiPath' | 'selection' | 'patterns' | 'match'

/** A field that names something beyond its object. */
export interface NamingField {
  /** Steps from the root with dots between: `*` is each item of a list or map, `**` any number of steps. */
  readonly at: string
  readonly names: Named
  readonly form?: Form
  /** Of a Secret or ConfigMap. Default: read. */
  readonly access?: 'read' | 'write'
  /** Of a reference: the keys of its parts, where they are others. */
  readonly keys?: { readonly name?: string; readonly namespace?: string }
  /** `<group>/<resource>` that the account must be able to create in the other namespace; then it may name it. */
  readonly grantedBy?: string
  /** What a finding says about it, after the name of the object. */
  readonly says?: string
  readonly embeds?: Embedding
}

/** Objects in a field, and as whom they are applied. */
export interface Embedding {
  /**
   * `object`: with apiVersion and kind; `text`: YAML of such; `template`: text with placeholders, which nobody reads before
   * it is filled in; else the kind that the controller makes of a part, as `<group>/<Kind>`.
   */
  readonly form: 'object' | 'text' | 'template' | { readonly kind: string }
  /** `controller`: with its own rights, which are those of a cluster admin; `account`: by the account that `accountAt` names, else by the controller. */
  readonly appliedBy: 'controller' | 'account'
  readonly accountAt?: string
  /** `own`: the controller puts everything into the namespace of the object; `written`: where the embedded object says. */
  readonly namespace: 'own' | 'written'
  /** Where the name of what is made is written, if not in the part itself. */
  readonly nameAt?: string
}

/** What objects of a kind can do beyond being there. A kind without fields names nothing outside of itself. */
export interface Capability {
  /** Of its CustomResourceDefinition. */
  readonly scope: Scope
  /** Where it is not the English plural of the kind. */
  readonly plural?: string
  readonly fields: readonly NamingField[]
}

/** Kinds by `<group>/<Kind>`. */
export type Capabilities = Readonly<Record<string, Capability>>
