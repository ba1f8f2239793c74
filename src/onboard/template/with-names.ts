/** Stands for each namespace of the tenant. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a template says
export const NAMESPACE_VARIABLE = '${NAMESPACE}'

/** The tenant of a template. */
export interface TemplateTenant {
  readonly tenant: string
  readonly account: string
  readonly team: string | undefined
  readonly namespaces: readonly string[]
}

/** What a template may name; undefined where the request does not say it. */
interface TemplateNames {
  readonly TENANT: string
  readonly NAMESPACE: string
  readonly ACCOUNT: string
  readonly TEAM: string | undefined
}

/** `$${X}` is how Flux writes a dollar sign, and other names are variables of Flux: both stay. */
const VARIABLE = /(?<!\$)\$\{(TENANT|NAMESPACE|ACCOUNT|TEAM)\}/g

/** A text with its names filled in, for one of the namespaces. `missing`: a variable for which there is no name. */
export function withNames(
  text: string,
  { tenant, account, team }: TemplateTenant,
  namespace: string,
): { text: string; missing: string | undefined } {
  const names: TemplateNames = { TENANT: tenant, NAMESPACE: namespace, ACCOUNT: account, TEAM: team }
  let missing: string | undefined
  const filled = text.replaceAll(VARIABLE, (variable, name: keyof TemplateNames) => {
    const value = names[name]
    if (value === undefined) missing ??= variable
    return value ?? variable
  })
  return { text: filled, missing }
}
