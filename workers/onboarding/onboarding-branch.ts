/** The branch of the pull request that onboards a tenant. */
export const onboardingBranch = (tenant: string): string => `bailiwick/onboard-${tenant}`
