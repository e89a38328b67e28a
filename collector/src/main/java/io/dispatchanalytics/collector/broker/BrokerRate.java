package io.dispatchanalytics.collector.broker;

import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.common.policies.data.DispatchRate;

/** The rate of the broker's own limiter, as the broker makes it from its configuration. */
final class BrokerRate {
    private BrokerRate() { }

    static DispatchRate of(ServiceConfiguration configuration) {
        return DispatchRate.builder()
                .dispatchThrottlingRateInMsg(configuration.getDispatchThrottlingRateInMsg())
                .dispatchThrottlingRateInByte(configuration.getDispatchThrottlingRateInByte())
                .ratePeriodInSecond(1)
                .relativeToPublishRate(false)
                .build();
    }
}
