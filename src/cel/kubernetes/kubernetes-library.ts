import { FunctionLibrary } from '../function-library.ts'
import { isKnownFunction } from '../function-names.ts'
import { ADDRESSES } from './addresses.ts'
import { AUTHORIZER } from './authorizer.ts'
import { FORMAT_FUNCTIONS } from './formats.ts'
import { LISTS } from './lists.ts'
import { OR_VALUE } from './or-value.ts'
import { QUANTITY } from './quantity.ts'
import { SEMVER_FUNCTIONS } from './semver.ts'
import { TEXTS } from './texts.ts'
import { TIMES } from './times-of.ts'
import { URLS } from './urls.ts'

/** Operators in a row that an expression may have. */
export const MAX_LINKS = 250

/** Functions of cel-go that Flux loads and Kubernetes does not. */
const OF_FLUX = new Set(['base64.encode', 'base64.decode'])

/** The functions of the API server's base environment (k8s.io/apiserver pkg/cel/environment/base.go of 1.36). */
export const kubernetesLibrary = new FunctionLibrary(
  [LISTS, TEXTS, URLS, ADDRESSES, QUANTITY, SEMVER_FUNCTIONS, FORMAT_FUNCTIONS, TIMES, AUTHORIZER, OR_VALUE],
  (name, isMethod) => isKnownFunction(name, isMethod) && !OF_FLUX.has(name),
  MAX_LINKS,
)
