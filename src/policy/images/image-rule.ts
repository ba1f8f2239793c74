import type { Origin } from '../../origin.ts'
import type { PolicyRuleName } from '../admission/admission-request.ts'
import type { ImageUse } from './image-use.ts'

/** A rule of a policy that verifies signatures of images, and that selects a Pod. */
export interface ImageRule extends PolicyRuleName {
  readonly origin: Origin
  /** It refuses images without a valid signature; else it only reports them. */
  readonly enforces: boolean
  /** Why it is not known whether it selects the Pod, or whether it enforces. */
  readonly why?: string
  verdict(use: ImageUse): ImageVerdict
}

/** Whether a rule asks for a signature of an image; `why`: the reason if it does not, or if that is not known. */
export type ImageVerdict =
  | { readonly state: 'verified' }
  | { readonly state: 'skipped' | 'unmatched' | 'unknown'; readonly why: string }
