import type { ListedKey } from './sops-services.ts'

/** By what the worker proves who it is; files are absolute paths, read again for each use. */
export type KmsCredentials =
  | { readonly type: 'file'; readonly file: string }
  | { readonly type: 'web-identity'; readonly role: string; readonly tokenFile: string }
  | { readonly type: 'metadata' }
  | {
      readonly type: 'azure'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecretFile?: string
      readonly federatedTokenFile?: string
    }

/** A key of a service by which Kustomizations of these namespaces are decrypted. */
export interface KmsKey extends ListedKey {
  readonly credentials: KmsCredentials
}
