/** The line for an error that says that an npm package is not installed, else undefined. */
export function missingPackage(error: unknown): string | undefined {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? []
  if (name === undefined) return undefined
  return (
    `error[config]: the package ${name} is not installed. Run \`npm ci\` in the checkout, ` +
    'or run the programs that `npm run build` writes to dist, which need no packages.'
  )
}
