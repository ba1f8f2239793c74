import type { Rule } from '../model/rule.ts'
import { chartContentChange } from './chart-content-change.ts'
import { imageAutomationPush } from './image-automation-push.ts'
import { intervalLimits } from './interval-limits.ts'
import { sourceCredentialExfil } from './source-credential-exfil.ts'
import { sourceInclude } from './source-include.ts'
import { sourceInsecureTransport } from './source-insecure-transport.ts'
import { sourceMutableRef } from './source-mutable-ref.ts'
import { sourceOpaque } from './source-opaque.ts'
import { sourceProxy } from './source-proxy.ts'
import { sourcePullRef } from './source-pull-ref.ts'
import { sourceRepoIdentity } from './source-repo-identity.ts'
import { sourceSubmodules } from './source-submodules.ts'
import { sourceUngatedRef } from './source-ungated-ref.ts'
import { sourceUrlAllowlist } from './source-url-allowlist.ts'
import { sourceUrlMalformed } from './source-url-malformed.ts'
import { sourceVerifyRemoved } from './source-verify-removed.ts'

/** Where content comes from. */
export const sourcesRules: readonly Rule[] = [
  chartContentChange,
  imageAutomationPush,
  intervalLimits,
  sourceCredentialExfil,
  sourceInclude,
  sourceInsecureTransport,
  sourceMutableRef,
  sourceOpaque,
  sourceProxy,
  sourcePullRef,
  sourceRepoIdentity,
  sourceSubmodules,
  sourceUngatedRef,
  sourceUrlAllowlist,
  sourceUrlMalformed,
  sourceVerifyRemoved,
]
