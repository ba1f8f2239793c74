import type { Json } from '../kube/node.ts'
import type { ObjectDrift } from './drift-of.ts'
import type { Ownership } from './ownership.ts'

/** What is to be sent for an object. */
export interface ObjectWrite {
  readonly path: string
  readonly body: Json
  readonly ownership: Ownership
  /** Of the live object; '' where there is none. */
  readonly uid: string
  readonly resourceVersion: string
  /** JSON patch that is sent first. */
  readonly takeOver?: Json | undefined
}

/** What an apply of an object would do, by its dry run. `uid` only where the object is this owner's. */
export type Prepared =
  | { readonly action: 'skipped'; readonly message: string }
  | { readonly action: 'unchanged'; readonly message?: string; readonly uid?: string }
  | {
      readonly action: 'created' | 'configured' | 'recreated'
      readonly message?: string
      readonly write: ObjectWrite
      readonly drift?: ObjectDrift
    }
